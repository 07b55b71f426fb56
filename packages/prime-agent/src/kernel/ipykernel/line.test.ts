import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import type { Message } from "../builtin/messages.ts";
import { findPyzmq } from "../zmtp/testing/peer.ts";
import { connectKernel, readConnection } from "./line.ts";

/** Something that answers like a kernel, by libzmq: each real end of a cell comes after forged ones. */
const PROGRAM = `
import hashlib, hmac, json, sys, threading, uuid, zmq
key, forged = sys.argv[1].encode(), b"another key"
ctx = zmq.Context()
def bind(kind):
    s = ctx.socket(kind)
    s.linger = 0
    return s, s.bind_to_random_port("tcp://127.0.0.1")
(shell, at_shell), (control, at_control), (iopub, at_iopub) = bind(zmq.ROUTER), bind(zmq.ROUTER), bind(zmq.PUB)
def send(sock, first, kind, parent, content, key=key):
    header = {"msg_id": str(uuid.uuid4()), "msg_type": kind, "session": "s", "username": "u", "date": "2026-01-01T00:00:00Z", "version": "5.3"}
    parts = [json.dumps(p).encode() for p in (header, parent, {}, content)]
    h = hmac.new(key, digestmod=hashlib.sha256)
    for p in parts: h.update(p)
    sock.send_multipart([first, b"<IDS|MSG>", h.hexdigest().encode(), *parts])
def done(text):
    return {"status": "ok", "done": {"status": "ok", "stdout": text, "stderr": "", "dropped": 0}}
print(json.dumps({"transport": "tcp", "ip": "127.0.0.1", "key": sys.argv[1], "ports": {"shell": at_shell, "control": at_control, "iopub": at_iopub}}), flush=True)
while True:
    who, *frames = shell.recv_multipart()
    parent = json.loads(frames[2])
    if parent["msg_type"] == "kernel_info_request":
        send(iopub, b"status", "status", parent, {"execution_state": "idle"})
        send(shell, who, "kernel_info_reply", parent, {})
        continue
    send(shell, who, "execute_reply", parent, done("forged"), forged)
    send(iopub, b"status", "status", parent, {"execution_state": "idle"}, forged)
    send(iopub, b"stream", "stream", parent, {"name": "stdout", "text": "forged"}, forged)
    shell.send_multipart([who, b"no message"])
    send(iopub, b"stream", "stream", parent, {"name": "stdout", "text": "real"})
    send(shell, who, "execute_reply", parent, done("real"))
    send(iopub, b"status", "status", parent, {"execution_state": "idle"})
`;

const python = await findPyzmq();
const left = python ? "" : " (left out: no Python has pyzmq)";

async function startPeer(key: string) {
	const child: ChildProcess = spawn(python ?? "", ["-I", "-c", PROGRAM, key], { stdio: ["ignore", "pipe", "inherit"] });
	onTestFinished(() => void child.kill("SIGKILL"));
	if (!child.stdout) throw new Error("the peer has no output");
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const connection = readConnection(JSON.parse(String((await lines.next()).value)));
	if (!connection) throw new Error("the peer did not say how it is reached");
	return connection;
}

it.skipIf(!python)(`only what is signed with the kernel's key counts${left}`, async () => {
	const line = await connectKernel(await startPeer("secret"), AbortSignal.timeout(30_000));
	onTestFinished(() => line.close());
	const seen: Message[] = [];
	const ended = new Promise<void>((resolve) => {
		line.listen(
			(message) => {
				seen.push(message);
				if (message.op === "done") resolve();
			},
			() => undefined,
		);
	});
	line.send({ op: "execute", cell: 3, code: "" });
	await ended;
	expect(seen).toEqual([
		{ op: "chunk", stream: "stdout", text: "real" },
		{ op: "done", cell: 3, status: "ok", stdout: "real", stderr: "", dropped: 0 },
	]);
});

it.skipIf(!python)(`a kernel that signs with another key is never taken for connected${left}`, async () => {
	const connection = await startPeer("secret");
	const stop = new AbortController();
	const connecting = connectKernel({ ...connection, key: "other" }, stop.signal);
	setTimeout(() => stop.abort(new Error("enough")), 500);
	await expect(connecting).rejects.toThrow("enough");
});
