import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text as readText } from "node:stream/consumers";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { sendRequest } from "./transport.ts";

interface TestServer {
	url: string;
	sockets: Set<Socket>;
}

async function serve(answer: RequestListener): Promise<TestServer> {
	const server = createServer(answer);
	const sockets = new Set<Socket>();
	server.on("connection", (socket) => sockets.add(socket));
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets };
}

const closed = (socket: Socket | undefined) => socket && (socket.closed || once(socket, "close"));

test.each([
	["gzip", gzipSync],
	["br", brotliCompressSync],
	["zstd", zstdCompressSync],
] as const)("an answer in %s is read as the text that it stands for", async (encoding, compress) => {
	const { url } = await serve((_, response) => {
		response.writeHead(200, { "content-encoding": encoding }).end(compress("what it says"));
	});
	expect(await (await sendRequest(url)).text()).toBe("what it says");
});

test("the body of a request is sent with its length in bytes", async () => {
	const { url } = await serve(async (request, response) => {
		response.end(`${request.method} ${request.headers["content-length"]} ${await readText(request)}`);
	});
	expect(await (await sendRequest(url, { method: "POST", body: "größe" })).text()).toBe("POST 7 größe");
});

test("a redirect with status 307 sends the body again and keeps the key on the same host", async () => {
	const { url } = await serve(async (request, response) => {
		if (request.url === "/") response.writeHead(307, { location: "/there" }).end();
		else response.end(`${request.headers.authorization} ${await readText(request)}`);
	});
	const answer = await sendRequest(url, { method: "POST", body: "again", headers: { authorization: "Bearer key" } });
	expect(await answer.text()).toBe("Bearer key again");
});

test("a redirect to another server is refused with its name, and nothing goes there, whatever the key is called", async () => {
	let count = 0;
	const other = await serve((_, response) => {
		count += 1;
		response.end("other");
	});
	const { url } = await serve((request, response) => {
		response.writeHead(307, { location: request.url === "/" ? "/there" : other.url }).end();
	});
	const sent = sendRequest(url, { method: "POST", body: "{}", headers: { "x-api-key": "key" } });
	await expect(sent).rejects.toThrow(`it redirected to ${new URL(other.url).origin}, another server`);
	expect(count).toBe(0);
});

test("a redirect with status 302 asks for the other document without a body", async () => {
	const { url } = await serve(async (request, response) => {
		if (request.url === "/") response.writeHead(302, { location: "/there" }).end();
		else response.end(`${request.method} ${request.headers["content-type"]} ${request.headers["x-api-key"]}`);
	});
	const headers = { "Content-Type": "application/json", "x-api-key": "key" };
	const answer = await sendRequest(url, { method: "POST", body: "{}", headers });
	expect(await answer.text()).toBe("GET undefined key");
});

test("redirects without end are given up, and bodies of theirs without end are not waited for", async () => {
	const { url, sockets } = await serve((_, response) => {
		response.writeHead(307, { location: "/" }).write("and so on");
	});
	await expect(sendRequest(url, { method: "POST", body: "{}" })).rejects.toThrow("more than 20 times");
	for (const socket of sockets) await closed(socket);
});

test("an abort before the headers rejects and closes the connection", async () => {
	const stop = new AbortController();
	const { url, sockets } = await serve(() => stop.abort());
	await expect(sendRequest(url, { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
	await closed([...sockets][0]);
});

test("an abort in the middle of the body rejects and closes the connection", async () => {
	const stop = new AbortController();
	const { url, sockets } = await serve((_, response) => void response.write("a beginning"));
	const answer = await sendRequest(url, { signal: stop.signal });
	const reading = answer.body!.getReader();
	expect((await reading.read()).value).toEqual(Buffer.from("a beginning"));
	stop.abort();
	await expect(reading.read()).rejects.toMatchObject({ name: "AbortError" });
	await closed([...sockets][0]);
});

test("a reader who has had enough closes the connection", async () => {
	const { url, sockets } = await serve((_, response) => void response.write("a beginning"));
	const { body } = await sendRequest(url);
	for await (const _ of body!) break;
	await closed([...sockets][0]);
});

test.each([
	["content-length", { "content-length": "100" }],
	["chunks", {}],
	["gzip", { "content-encoding": "gzip" }],
])("a body that breaks off rejects where %s told its end", async (_, headers) => {
	const { url } = await serve((_, response) => {
		response.writeHead(200, headers as Record<string, string>);
		const bytes = "content-encoding" in headers ? gzipSync("some text".repeat(99)).subarray(0, 20) : "some text";
		response.write(bytes, () => response.destroy());
	});
	const answer = await sendRequest(url);
	await expect(answer.text()).rejects.toThrow();
});

test("one connection serves requests that follow each other", async () => {
	const { url, sockets } = await serve((_, response) => void response.end("fine"));
	for (let n = 0; n < 3; n++) {
		expect(await (await sendRequest(url)).text()).toBe("fine");
		// The connection is free again a turn of the event loop after the last byte.
		await new Promise(setImmediate);
	}
	expect(sockets.size).toBe(1);
});

test("a request object is sent with its method, headers and body, and its signal ends it", async () => {
	const stop = new AbortController();
	const { url, sockets } = await serve(async (request, response) => {
		response.write(`${request.method} ${request.headers["x-name"]} ${await readText(request)}`);
	});
	const init = { method: "POST", headers: { "x-name": "value" }, body: "a body", signal: stop.signal };
	const reading = (await sendRequest(new Request(url, init))).body!.getReader();
	expect(String((await reading.read()).value)).toBe("POST value a body");
	stop.abort();
	await expect(reading.read()).rejects.toMatchObject({ name: "AbortError" });
	await closed([...sockets][0]);
});

test.each(["api.example.com/v1", "file:///etc/passwd", "data:,text", "ftp://example.com/"])(
	"the address %s is refused, because it is none for a model",
	async (url) => {
		await expect(sendRequest(url)).rejects.toThrow(/^Invalid URL /);
	},
);
