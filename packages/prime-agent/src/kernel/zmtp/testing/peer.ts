import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { listCandidates } from "../../interpreters.ts";

/** A program that binds ZeroMQ sockets by libzmq: a ROUTER that echoes and a PUB, as told on its standard input. */
const PROGRAM = `
import sys, threading, time, zmq
ctx = zmq.Context()
where = sys.argv[1]
def bind(kind, name):
    s = ctx.socket(kind)
    s.sndhwm = 0
    s.linger = 0
    if where == "tcp":
        port = s.bind_to_random_port("tcp://127.0.0.1")
        return s, str(port)
    s.bind("ipc://%s/%s" % (where, name))
    return s, "%s/%s" % (where, name)
router, at_router = bind(zmq.ROUTER, "router")
pub, at_pub = bind(zmq.PUB, "pub")
def echo():
    while True:
        frames = router.recv_multipart()
        if frames[1] == b"sleep":
            time.sleep(float(frames[2]))
        elif frames[1] == b"count":
            router.send_multipart([frames[0], str(sum(map(len, frames[2:]))).encode()])
        else:
            router.send_multipart(frames)
threading.Thread(target=echo, daemon=True).start()
print(at_router, at_pub, flush=True)
for line in sys.stdin:
    count, size = map(int, line.split())
    for n in range(count):
        pub.send_multipart([b"%d" % n, b"x" * size])
    print("published", flush=True)
`;

/** The other side of a test, which speaks through libzmq. */
export interface Peer {
	readonly router: string;
	readonly pub: string;
	/** Publishes `count` messages; the first frame is the number, the second has `size` bytes. */
	publish(count: number, size: number): Promise<void>;
	/** Resolves when it is gone. */
	kill(): Promise<void>;
}

/** The Python that has pyzmq, or undefined. */
export async function findPyzmq(): Promise<string | undefined> {
	for (const { python } of listCandidates({ env: process.env, python: process.env.PRIME_AGENT_TEST_PYTHON })) {
		const child = spawn(python, ["-I", "-c", "import zmq"], { stdio: "ignore" });
		const code = await new Promise((resolve) => child.once("close", resolve).once("error", () => resolve(1)));
		if (code === 0) return python;
	}
	return undefined;
}

/** Starts a peer; `where` is a folder for unix sockets, or `tcp`. */
export async function startPeer(python: string, where: string): Promise<Peer> {
	const child: ChildProcess = spawn(python, ["-I", "-c", PROGRAM, where], { stdio: ["pipe", "pipe", "inherit"] });
	if (!child.stdout) throw new Error("the peer has no output");
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const [router = "", pub = ""] = String((await lines.next()).value).split(" ");
	return {
		router,
		pub,
		publish: async (count, size) => {
			child.stdin?.write(`${count} ${size}\n`);
			await lines.next();
		},
		kill: () => {
			const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
			child.kill("SIGKILL");
			return gone;
		},
	};
}
