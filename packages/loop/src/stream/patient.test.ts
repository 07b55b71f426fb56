import { reply, startChatServer } from "@prime-agent/testkit";
import { expect, test, vi } from "vitest";
import { textOf } from "../testing/script.ts";
import { callGuarded } from "../testing/server.ts";
import { chooseFetch, openFetch } from "./patient.ts";

test("a fetch of our own patience ends a silent body when that is used up, and else reads on", async () => {
	await using server = await startChatServer();
	const silent = reply({ text: "hello there", chunk: 1, silence: { afterEvents: 2, forMs: 4_000 } });
	server.script(silent, silent);
	const body = JSON.stringify({
		model: "mock",
		stream: true,
		messages: [{ role: "user", content: "hi" }],
	});
	const ask = (silenceMs: number) =>
		openFetch(silenceMs)(`${server.baseUrl}/chat/completions`, {
			method: "POST",
			headers: { "content-type": "application/json", authorization: "Bearer k" },
			body,
		}).then((response) => response.text());
	await expect(ask(500)).rejects.toMatchObject({ cause: { code: "UND_ERR_BODY_TIMEOUT" } });
	expect(await ask(0)).toContain("[DONE]");
});

test.each([
	[[300_000, 1], true],
	[[300_001, 1], false],
	[[1, 3_600_000], false],
	[[1, 0], false],
] as const)("limits of %j leave the patience to Node: %s", (limits, isPlain) => {
	expect(chooseFetch(...limits) === globalThis.fetch).toBe(isPlain);
});

test("longer limits reach the request of a guarded call", async () => {
	await using server = await startChatServer();
	const sent = vi.spyOn(globalThis, "fetch");
	try {
		server.script(reply({ text: "fine" }), reply({ text: "fine" }));
		const dispatcherOf = () => (sent.mock.lastCall?.[1] as { dispatcher?: object } | undefined)?.dispatcher;
		expect(textOf((await callGuarded(server.baseUrl, { idleMs: 3_600_000 })).message)).toBe("fine");
		expect(dispatcherOf()).toBeDefined();
		await callGuarded(server.baseUrl, {});
		expect(dispatcherOf()).toBeUndefined();
	} finally {
		sent.mockRestore();
	}
});
