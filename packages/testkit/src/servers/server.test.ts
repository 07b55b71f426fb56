import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, expect, it } from "vitest";
import { startChatServer } from "./chat/server.ts";
import type { ModelServer } from "./server.ts";
import { raw, reply, type Step } from "./step.ts";

const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], stream: true });

function post(server: ModelServer, text = body, signal?: AbortSignal): Promise<Response> {
	const url = `${server.baseUrl}/chat/completions`;
	return fetch(url, {
		method: "POST",
		body: text,
		headers: { authorization: "Bearer k" },
		...(signal ? { signal } : {}),
	});
}

/** The whole answer to one scripted step. */
async function answer(step: Step): Promise<string> {
	await using server = await startChatServer();
	server.script(step);
	return await (await post(server)).text();
}

/** The answer as the HTTP chunks in which it was sent, however TCP packed them. */
async function answerPieces(step: Step): Promise<Buffer[]> {
	await using server = await startChatServer();
	server.script(step);
	const asking = request(`${server.baseUrl}/chat/completions`, { method: "POST" }).end(body);
	const [response] = (await once(asking, "response")) as [IncomingMessage];
	const pieces: Buffer[] = [];
	response.on("data", (piece: Buffer) => pieces.push(piece));
	await once(response, "end");
	return pieces;
}

/** Reads until the text holds `until`; the body stays open. */
async function readUntil(response: Response, until: RegExp): Promise<string> {
	const reader = response.body?.getReader();
	const decoder = new TextDecoder();
	let text = "";
	while (!until.test(text)) {
		const piece = await reader?.read();
		if (!piece || piece.done) throw new Error(`The body ended after: ${text}`);
		text += decoder.decode(piece.value, { stream: true });
	}
	return text;
}

/** What arrives before the connection breaks; fails when it does not break. */
async function readToFailure(response: Response): Promise<string> {
	let text = "";
	try {
		for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
	} catch (error) {
		expect(String(error)).toContain("terminated");
		return text;
	}
	throw new Error("The body ended properly.");
}

describe("recording", () => {
	it("keeps every request byte for byte with its headers, also refused ones", async () => {
		await using server = await startChatServer();
		const odd = '{ "model":"m",  "messages":[{"role":"user","content":"\\u00e9 é 😀"}], "stream":true }';
		server.script(reply({ text: "ok" }));
		await (await post(server, odd)).text();
		await (await post(server, "no json")).text();
		expect(server.requests.map((request) => request.raw)).toEqual([odd, "no json"]);
		expect(server.requests[0]).toMatchObject({ method: "POST", path: "/v1/chat/completions", body: { model: "m" } });
		expect(server.requests[0]?.headers.authorization).toBe("Bearer k");
		expect(server.requests[1]).toMatchObject({ body: undefined, rejected: "not-json" });
		expect(server.requests[1]?.at).toBeGreaterThan(server.requests[0]?.at ?? Number.POSITIVE_INFINITY);
	});

	it("resolves a wait for requests when they are there and rejects it when they do not come", async () => {
		await using server = await startChatServer();
		server.script(reply({ text: "ok" }));
		const waiting = server.waitForRequests(1);
		await post(server);
		await waiting;
		await expect(server.waitForRequests(2, 50)).rejects.toThrow("2 requests");
	});
});

describe("script", () => {
	it("answers in order and then with 500 script exhausted", async () => {
		await using server = await startChatServer();
		server.script(reply({ text: "one" }), raw({ status: 429, headers: { "retry-after": "2" }, body: { error: {} } }));
		expect(server.remaining).toBe(2);
		expect(await (await post(server)).text()).toContain('"content":"one"');
		const limited = await post(server);
		expect([limited.status, limited.headers.get("retry-after"), await limited.json()]).toEqual([
			429,
			"2",
			{ error: {} },
		]);
		const last = await post(server);
		expect(last.status).toBe(500);
		expect(await last.json()).toMatchObject({ error: { message: "script exhausted" } });
		expect(server.rejections.map((rejection) => rejection.rule)).toEqual(["script-exhausted"]);
	});

	it("lets a function answer from the request", async () => {
		const step: Step = (request) =>
			Promise.resolve(reply({ text: `you said ${request.body.messages[0].content}`, chunk: 99 }));
		expect(await answer(step)).toContain("you said hi");
	});

	it("does not use up an answer for a refused request", async () => {
		await using server = await startChatServer();
		server.script(reply({ text: "ok" }));
		const refused = await post(server, '{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"x":1}');
		expect(refused.status).toBe(400);
		expect(await refused.json()).toEqual({
			error: {
				message: "Unknown parameter: 'x'.",
				type: "invalid_request_error",
				param: "x",
				code: "unknown_parameter",
			},
		});
		expect(server.remaining).toBe(1);
		expect(server.rejections).toMatchObject([{ rule: "unknown-field", status: 400 }]);
	});

	it("reports a script that fails as a rejection", async () => {
		await using server = await startChatServer();
		server.script(() => {
			throw new Error("no such answer");
		});
		expect((await post(server)).status).toBe(500);
		expect(server.rejections).toMatchObject([{ rule: "script-failed", message: "mock server: Error: no such answer" }]);
	});

	it("lists the models and refuses other addresses", async () => {
		await using server = await startChatServer({ models: ["a", "b"] });
		const models = await (await fetch(`${server.baseUrl}/models`)).json();
		expect(models).toMatchObject({ object: "list", data: [{ id: "a" }, { id: "b" }] });
		expect((await fetch(`${server.url}/v1/completions`, { method: "POST" })).status).toBe(404);
	});

	it("refuses requests that are not to be streamed instead of answering them wrongly", async () => {
		await using server = await startChatServer();
		const response = await post(server, '{"model":"m","messages":[{"role":"user","content":"hi"}]}');
		expect(response.status).toBe(501);
	});
});

describe("wire", () => {
	const words = { text: "äöü 😀 日本", chunk: 3 };

	it("sends each byte alone", async () => {
		const pieces = await answerPieces(reply({ ...words, split: "byte" }));
		expect(new Set(pieces.map((piece) => piece.length))).toEqual(new Set([1]));
		expect(Buffer.concat(pieces).toString()).toContain("😀");
	});

	it("cuts at a size and at given offsets", async () => {
		const sized = (await answerPieces(reply({ ...words, split: 100 }))).map((piece) => piece.length);
		expect(new Set(sized.slice(0, -1))).toEqual(new Set([100]));
		const cut = (await answerPieces(reply({ ...words, split: [10, 25] }))).map((piece) => piece.length);
		expect(cut.slice(0, 2)).toEqual([10, 15]);
		expect(cut).toHaveLength(3);
	});

	it("ends lines with CR LF and puts a comment before each event when asked", async () => {
		const text = await answer(reply({ text: "ab", crlf: true, comments: true }));
		expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
		expect(text.match(/^: keep-alive\r$/gm)).toHaveLength(text.match(/^data: /gm)?.length ?? -1);
	});

	it.each([
		["done", true, true],
		["missing", true, false],
		["no-finish", false, true],
		["cut", false, false],
	] as const)("with end %s has finish reason %s and marker %s", async (end, hasFinish, hasMarker) => {
		const text = await answer(reply({ text: "ab", end }));
		expect([text.includes('"finish_reason":"stop"'), text.includes("[DONE]")]).toEqual([hasFinish, hasMarker]);
	});

	it("disconnects after the asked number of events", async () => {
		await using server = await startChatServer();
		server.script(reply({ text: "abcd", chunk: 1, end: "disconnect-after-3-events" }));
		const response = await post(server);
		const text = await readToFailure(response);
		expect(text.match(/^data: /gm)).toHaveLength(3);
		expect(text).toMatch(/"b".*\n\n$/);
	});

	it("puts an error in place of the end", async () => {
		const text = await answer(reply({ text: "ab", errorInStream: { message: "overloaded", code: 529 } }));
		expect(text).toMatch(/data: \{"error":\{"message":"overloaded","code":529\}\}\n\n$/);
		expect(text).not.toContain("[DONE]");
	});

	it("sends the finish twice when asked", async () => {
		expect((await answer(reply({ text: "ab", duplicateFinish: true }))).match(/"finish_reason":"stop"/g)).toHaveLength(
			2,
		);
	});

	it("lets a script change the framed events", async () => {
		const text = await answer(reply({ text: "ab", mutate: (frames) => frames.slice(1, 2) }));
		expect(text.match(/^data: /gm)).toHaveLength(1);
	});

	it("adds and replaces response headers", async () => {
		await using server = await startChatServer();
		server.script(reply({ headers: { "content-type": "text/html", "x-request-id": "r1" } }));
		const { headers } = await post(server);
		expect([headers.get("content-type"), headers.get("x-request-id")]).toEqual(["text/html", "r1"]);
	});

	it("is silent before the headers until the client leaves", async () => {
		await using server = await startChatServer();
		server.script(reply({ text: "ab", silence: "before-headers" }));
		const leave = new AbortController();
		const response = post(server, body, leave.signal);
		await server.waitForRequests(1);
		leave.abort();
		await expect(response).rejects.toThrow("aborted");
	});

	it("is silent after events, with comments alone when asked, and goes on after the given time", async () => {
		const silence = { afterEvents: 2, forMs: 60 };
		const text = await answer(reply({ text: "abcd", chunk: 2, comments: { everyMs: 10 }, silence }));
		const [before = "", after = ""] = text.split(/(?<="ab"}.*\n\n)/);
		expect(before.match(/: keep-alive/g)).toHaveLength(2);
		expect(after.match(/: keep-alive/g)?.length).toBeGreaterThan(3);
		expect(text).toContain("[DONE]");
	});

	it.each([false, { everyMs: 1 }])("is silent until a promise is kept, with comments %j", async (comments) => {
		await using server = await startChatServer();
		const go = Promise.withResolvers<void>();
		server.script(reply({ text: "abcd", chunk: 2, comments, silence: { afterEvents: 2, until: go.promise } }));
		const response = await post(server);
		const whole = response.clone().text();
		const before = await readUntil(response, comments ? /"ab"[\s\S]*(: keep-alive\n\n){3}$/ : /"ab"/);
		expect(before).not.toContain('"cd"');
		go.resolve();
		expect(await whole).toContain('"cd"');
	});

	it("is silent before headers for a time and then answers", async () => {
		expect(await answer(reply({ text: "ab", silence: { beforeHeadersMs: 20 } }))).toContain("[DONE]");
	});

	it("sends a raw body as it is, split and cut like a reply", async () => {
		await using server = await startChatServer();
		server.script(
			raw({ status: 200, body: "<html>äöü</html>", headers: { "content-type": "text/html" }, split: "byte" }),
		);
		expect(await (await post(server)).text()).toBe("<html>äöü</html>");
	});
});

describe("close", () => {
	it("ends hanging requests at once and frees the port", async () => {
		const server = await startChatServer();
		server.script(reply({ text: "ab", silence: { afterEvents: 1 } }), reply({ silence: "before-headers" }));
		const open = await post(server);
		await readUntil(open, /data: /);
		const waiting = post(server);
		await server.waitForRequests(2);
		await Promise.all([server.close(), expect(waiting).rejects.toThrow("fetch failed")]);
		await expect(fetch(server.url)).rejects.toThrow("fetch failed");
	});
});
