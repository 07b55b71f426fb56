import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectZmtp, type Endpoint, type ZmtpSocket } from "./socket.ts";
import { findPyzmq, type Peer, startPeer } from "./testing/peer.ts";

const python = await findPyzmq();
const live = new AbortController().signal;

/** A connection that collects what it receives. */
async function open(endpoint: Endpoint, type: "DEALER" | "SUB", signal: AbortSignal = live) {
	const received: (readonly Buffer[])[] = [];
	const waiting: (() => void)[] = [];
	const lost = Promise.withResolvers<Error>();
	const socket: ZmtpSocket = await connectZmtp(endpoint, {
		type,
		signal,
		onMessage: (frames) => {
			received.push(frames);
			for (const wake of waiting.splice(0)) wake();
		},
		onLost: lost.resolve,
	});
	const reach = async (count: number) => {
		while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
		return received;
	};
	return { socket, received, reach, lost: lost.promise };
}

for (const transport of ["unix socket", "TCP"] as const) {
	const left = python ? "" : " (left out: no Python has pyzmq)";
	describe.skipIf(!python)(`the ZMTP client against libzmq over a ${transport}${left}`, () => {
		let folder: string;
		let peer: Peer;
		const at = (name: string): Endpoint =>
			transport === "TCP" ? { host: "127.0.0.1", port: Number(name) } : { path: name };

		beforeAll(async () => {
			folder = await mkdtemp(join(tmpdir(), "zmtp-"));
			peer = await startPeer(python ?? "", transport === "TCP" ? "tcp" : folder);
		});
		afterAll(async () => {
			await peer.kill();
			await rm(folder, { recursive: true, force: true });
		});

		it("a message of several frames comes back as it was sent, also with empty and long ones", async () => {
			const { socket, reach } = await open(at(peer.router), "DEALER");
			const frames = [Buffer.from("a"), Buffer.alloc(0), Buffer.alloc(255, 1), Buffer.alloc(256, 2), Buffer.from("é")];
			socket.send(frames);
			expect((await reach(1))[0]).toEqual(frames);
			socket.close();
		});

		it("a frame of 40 MB comes back whole", async () => {
			const { socket, reach } = await open(at(peer.router), "DEALER");
			const big = Buffer.alloc(40_000_000, "abcdefg");
			socket.send([big]);
			expect((await reach(1))[0]?.[0]?.equals(big)).toBe(true);
			socket.close();
		});

		it("a thousand messages at once arrive in order", async () => {
			const { socket, reach } = await open(at(peer.router), "DEALER");
			for (let n = 0; n < 1000; n += 1) socket.send([Buffer.from(String(n))]);
			const received = await reach(1000);
			expect(received.map(([frame]) => Number(frame))).toEqual(Array.from({ length: 1000 }, (_, n) => n));
			socket.close();
		});

		it("a subscriber whose program is blocked while 4,000 messages are published gets all of them", async () => {
			const { socket, reach, received } = await open(at(peer.pub), "SUB");
			// a subscription takes effect a moment after it was sent
			while (received.length === 0) await peer.publish(1, 1);
			const before = received.length;
			const published = peer.publish(4000, 5000);
			const until = Date.now() + 500;
			while (Date.now() < until);
			await published;
			const last = (await reach(before + 4000)).slice(-4000);
			expect(last.map(([frame]) => Number(frame))).toEqual(Array.from({ length: 4000 }, (_, n) => n));
			socket.close();
		});

		it("a peer that reads nothing for a while gets everything that was sent meanwhile, in order", async () => {
			const { socket, reach } = await open(at(peer.router), "DEALER");
			socket.send([Buffer.from("sleep"), Buffer.from("0.3")]);
			for (let n = 0; n < 60; n += 1) socket.send([Buffer.from(String(n)), Buffer.alloc(1_000_000, n)]);
			const received = await reach(60);
			expect(received.map(([frame, body]) => [Number(frame), body?.length])).toEqual(
				Array.from({ length: 60 }, (_, n) => [n, 1_000_000]),
			);
			socket.close();
		});

		it("a peer that has ended refuses the next connection, and the error names it", async () => {
			const short = await startPeer(python ?? "", transport === "TCP" ? "tcp" : await mkdtemp(join(folder, "r")));
			const { lost } = await open(at(short.router), "DEALER");
			await short.kill();
			await lost;
			await expect(open(at(short.router), "DEALER")).rejects.toThrow(/^The connection to \S+ ended: .*ECONNREFUSED/);
		});

		it("the death of the other side is told once", async () => {
			const short = await startPeer(python ?? "", transport === "TCP" ? "tcp" : await mkdtemp(join(folder, "p")));
			const { lost } = await open(at(short.router), "DEALER");
			await short.kill();
			expect(String(await lost)).toMatch(/^ZmtpError: The connection to \S+ ended: /);
		});
	});
}

describe("the ZMTP client against others", () => {
	/** A server that answers every connection with these bytes, and what the client makes of it. */
	async function meet(answer: readonly Buffer[], signal: AbortSignal = live): Promise<string> {
		const server: Server = createServer((socket) => {
			socket.on("error", () => socket.destroy());
			for (const bytes of answer) socket.write(bytes);
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const address = server.address();
		const port = typeof address === "object" && address ? address.port : 0;
		const outcome = await open({ host: "127.0.0.1", port }, "DEALER", signal).then(
			async ({ lost }) => `lost ${await lost}`,
			(error: Error) => `refused ${error.message}`,
		);
		server.close();
		return outcome;
	}
	const greeting = Buffer.alloc(64);
	greeting[0] = 0xff;
	greeting[9] = 0x7f;
	greeting[10] = 3;
	greeting.write("NULL", 12);
	const ready = Buffer.from("\x04\x06\x05READY", "latin1");

	it("a port where nobody listens is an error that names it", async () => {
		await expect(open({ host: "127.0.0.1", port: 1 }, "DEALER")).rejects.toThrow(
			/127\.0\.0\.1:1 ended: .*ECONNREFUSED/,
		);
		await expect(open({ path: "/not/there" }, "DEALER")).rejects.toThrow(/\/not\/there ended: .*ENOENT/);
	});

	it.each([
		["another protocol", [Buffer.from("HTTP/1.1 400 Bad Request\r\n".repeat(4))], /does not speak ZMTP/],
		["an old version", [Buffer.concat([greeting.subarray(0, 10), Buffer.from([1]), Buffer.alloc(53)])], /version 1/],
		["a message before the handshake", [greeting, Buffer.from([0, 1, 65])], /before it was ready/],
		["a refusal", [greeting, Buffer.from("\x04\x09\x05ERROR\x02no", "latin1")], /refused: no/],
	])("%s is an error that says so", async (_what, answer, message) => {
		expect(await meet(answer)).toMatch(message);
	});

	it.each([
		["a frame of an unknown kind", Buffer.from([0x88, 1, 1])],
		["a message larger than 64 MB", Buffer.from([2, 0, 0, 1, 0, 0, 0, 0, 0])],
	])("%s ends the connection", async (reason, bytes) => {
		expect(await meet([greeting, ready, bytes])).toContain(`lost ZmtpError: The connection to 127.0.0.1:`);
		expect(await meet([greeting, ready, bytes])).toContain(reason);
	});

	it("a connection whose other side says nothing is called off by its signal", async () => {
		const stop = new AbortController();
		const outcome = meet([], stop.signal);
		stop.abort();
		expect(await outcome).toMatch(/called off/);
	});
});
