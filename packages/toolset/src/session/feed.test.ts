import { reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { calling, openTestSession } from "../testing/session.ts";
import type { SessionEvent } from "./events.ts";

const types = (events: readonly SessionEvent[]) => events.map(({ type }) => type);

test("a reader that starts to read only after the end gets every event in order, and its loop ends", async () => {
	await using at = await openTestSession([calling(["glob", { pattern: "*" }]), reply({ text: "done" })]);
	const told = at.session.events();
	const from = at.events.length;
	await at.session.submit("look");
	await at.session.close();
	const read: SessionEvent[] = [];
	for await (const event of told) read.push(event);
	expect(read).toEqual(at.events.slice(from));
	expect(types(read).at(-1)).toBe("session_end");
	expect(types(read).filter((type) => type === "message_update").length).toBeGreaterThan(0);
});

test("a reader that waits is woken by each event", async () => {
	await using at = await openTestSession([reply({ text: "done" })]);
	const first = at.session.events().next();
	await at.session.submit("go");
	expect(await first).toMatchObject({ done: false, value: { type: "agent_start" } });
});

test("readers that left and listeners that were taken away get nothing more", async () => {
	await using at = await openTestSession([reply({ text: "one" }), reply({ text: "two" })]);
	const heard: SessionEvent[] = [];
	const unsubscribe = at.session.subscribe((event) => heard.push(event));
	const reader = at.session.events();
	await at.session.submit("first");
	for await (const event of reader) if (event.type === "agent_start") break;
	unsubscribe();
	const before = heard.length;
	await at.session.submit("second");
	expect(heard).toHaveLength(before);
	expect(await reader.next()).toEqual({ value: undefined, done: true });
});

test("the events of a session that is closed already are none", async () => {
	await using at = await openTestSession([]);
	await at.session.close();
	expect(await at.session.events().next()).toEqual({ value: undefined, done: true });
});

test("a host that calls the last reply a question sees the session wait for the answer", async () => {
	await using at = await openTestSession([reply({ text: "Which one?" }), reply({ text: "done" })]);
	await at.session.submit("go");
	at.session.awaitInput();
	expect(at.session.state).toBe("awaiting_input");
	expect(() => at.session.awaitInput()).toThrow(/answer/);
	const answer = at.session.submit("the first");
	expect(at.session.state).toBe("processing");
	expect(() => at.session.awaitInput()).toThrow("still working");
	await answer;
	expect(at.session.state).toBe("idle");
	expect(at.request(1).at(-1)).toEqual({ role: "user", text: "the first" });
	await at.session.close();
	expect(() => at.session.awaitInput()).toThrow("closed");
});
