import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { reply, waitFor } from "@prime-agent/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { PermissionGate } from "../permissions.ts";
import { calling, openTestSession } from "../testing/session.ts";
import { defineTool } from "../tools/tool.ts";
import type { SessionEvent } from "./events.ts";

const text = (words: string) => reply({ text: words });

function kinds(events: SessionEvent[]): string[] {
	const shown = events.map((event) => {
		if (event.type === "message_start" || event.type === "message_end") return `${event.type}:${event.message.role}`;
		return event.type;
	});
	return shown.filter((kind, index) => kind !== "message_update" || shown[index - 1] !== "message_update");
}

test("a run with one tool call tells its events in order", async () => {
	await using at = await openTestSession([calling(["read_file", { file_path: "a.txt" }]), text("done")], {
		files: { "a.txt": "hello\n" },
	});
	expect(await at.session.submit("look")).toEqual({ reason: "stop" });
	expect(kinds(at.events)).toEqual([
		"session_start",
		"agent_start",
		"turn_start",
		"message_start:user",
		"message_end:user",
		"message_start:assistant",
		"message_update",
		"message_end:assistant",
		"tool_execution_start",
		"tool_execution_end",
		"message_start:toolResult",
		"message_end:toolResult",
		"turn_end",
		"turn_start",
		"message_start:assistant",
		"message_update",
		"message_end:assistant",
		"turn_end",
		"agent_end",
	]);
	expect(at.events.find((event) => event.type === "tool_execution_start")).toMatchObject({
		label: "read",
		subject: "a.txt",
	});
	expect(at.request(1).at(-1)).toEqual({ role: "toolResult", text: "1 | hello" });
});

test("inputs one after the other share one conversation", async () => {
	await using at = await openTestSession([text("one"), text("two")]);
	await at.session.submit("first");
	await at.session.submit("second");
	expect(at.request(1).slice(1)).toEqual([
		{ role: "user", text: "first" },
		{ role: "assistant", text: "one" },
		{ role: "user", text: "second" },
	]);
});

test("messages given during a tool call come after its result, one by one and in order", async () => {
	let at: Awaited<ReturnType<typeof openTestSession>> | undefined;
	const pause = defineTool<object>({
		name: "pause",
		label: "pause",
		toolClass: "read",
		description: "Waits.",
		properties: {},
		required: [],
		describeCall: () => "",
		async run() {
			at?.session.steer("first");
			at?.session.steer("second");
			return { text: "paused" };
		},
	});
	at = await openTestSession([calling(["pause", {}]), text("done")], { tools: [pause] });
	await at.session.submit("go");
	expect(at.request(1).slice(-3)).toEqual([
		{ role: "toolResult", text: "paused" },
		{ role: "user", text: "first" },
		{ role: "user", text: "second" },
	]);
	const sources = at.events.flatMap((event) => (event.type === "message_end" && event.source ? [event.source] : []));
	expect(sources).toEqual(["input", "steering", "steering"]);
	await at[Symbol.asyncDispose]();
});

test("a message given before an input comes after it and before the first model call", async () => {
	await using at = await openTestSession([text("done")]);
	at.session.steer("mind this");
	await at.session.submit("go");
	expect(
		at
			.request(0)
			.slice(1)
			.map((message) => message.text),
	).toEqual(["go", "mind this"]);
});

test("a message that comes while the last answer is given continues the run", async () => {
	let steered = false;
	await using at = await openTestSession([
		() => {
			if (!steered) at.session.steer("one more thing");
			steered = true;
			return text("first");
		},
		text("second"),
	]);
	await at.session.submit("go");
	expect(at.request(1).at(-1)).toEqual({ role: "user", text: "one more thing" });
	expect(at.session.lastText).toBe("second");
});

test("follow-ups are taken one by one after the answer", async () => {
	await using at = await openTestSession([text("a"), text("b"), text("c")]);
	at.session.followUp("second");
	at.session.followUp("third");
	await at.session.submit("first");
	expect(
		at
			.request(2)
			.slice(1)
			.map((message) => message.text),
	).toEqual(["first", "a", "second", "b", "third"]);
	expect(at.events.filter((event) => event.type === "agent_end")).toHaveLength(3);
});

test("the limit of rounds ends the input after its tools and leaves the session usable", async () => {
	await using at = await openTestSession([calling(["glob", { pattern: "*" }]), text("later")], {
		settings: { maxToolRounds: 1 },
	});
	expect(await at.session.submit("go")).toMatchObject({ reason: "round_limit" });
	expect(at.model.calls).toHaveLength(1);
	expect(at.session.state).toBe("idle");
	expect(await at.session.submit("again")).toEqual({ reason: "stop" });
});

test("the limit of turns counts over all inputs", async () => {
	await using at = await openTestSession([text("a"), calling(["glob", { pattern: "*" }])], {
		settings: { maxTurns: 2 },
	});
	expect(await at.session.submit("one")).toEqual({ reason: "stop" });
	expect(await at.session.submit("two")).toMatchObject({ reason: "turn_limit" });
	expect(at.model.calls).toHaveLength(2);
});

test("ten equal calls bring one warning that the model reads, and the run goes on", async () => {
	const again = calling(["glob", { pattern: "*" }]);
	await using at = await openTestSession([...Array(10).fill(again), text("done")]);
	await at.session.submit("go");
	const warnings = at.events.filter((event) => event.type === "warning");
	expect(warnings).toEqual([{ type: "warning", kind: "loop", message: expect.stringContaining("again and again") }]);
	expect(at.request(10).at(-1)).toEqual({ role: "user", text: expect.stringContaining("again and again") });
});

test("loop detection can be switched off", async () => {
	const again = calling(["glob", { pattern: "*" }]);
	await using at = await openTestSession([...Array(12).fill(again), text("done")], { settings: { loopWindow: 0 } });
	await at.session.submit("go");
	expect(at.events.filter((event) => event.type === "warning")).toEqual([]);
});

test("closing in the middle of a tool ends it, answers every call and closes the session", async () => {
	await using at = await openTestSession([
		calling(["shell", { command: "echo $$ > pid; sleep 600" }], ["shell", { command: "sleep 600" }]),
	]);
	const running = at.session.submit("go");
	const pid = async () => Number(await readFile(join(at.folder.path, "pid"), "utf8"));
	await waitFor(async () => (await pid().catch(() => 0)) > 0, "the command to run");
	await at.session.close();
	expect(await running).toMatchObject({ reason: "aborted" });
	expect(at.session.state).toBe("closed");
	expect(at.events.filter((event) => event.type === "tool_execution_end")).toHaveLength(2);
	await expect(at.session.submit("more")).rejects.toThrow("closed");
	const group = -(await pid());
	await waitFor(() => {
		try {
			process.kill(group, 0);
			return false;
		} catch {
			return true;
		}
	}, "the processes to be gone");
});

test("a session that works takes no second input", async () => {
	await using at = await openTestSession([text("done")]);
	const running = at.session.submit("one");
	await expect(at.session.submit("two")).rejects.toThrow("still working");
	await running;
});

test("the effort of thinking can change between inputs", async () => {
	await using at = await openTestSession([text("a"), text("b"), text("c")]);
	await at.session.submit("one");
	at.session.reasoningEffort = "high";
	await at.session.submit("two");
	at.session.reasoningEffort = undefined;
	await at.session.submit("three");
	expect(at.model.calls.map((call) => call.options?.reasoning)).toEqual([undefined, "high", undefined]);
});

test("a filling context window is told once for each step of five percent", async () => {
	await using at = await openTestSession([
		reply({ text: "a", usage: { input: 163_000, output: 10 } }),
		reply({ text: "b", usage: { input: 164_000, output: 10 } }),
		reply({ text: "c", usage: { input: 175_000, output: 10 } }),
	]);
	for (const input of ["one", "two", "three"]) await at.session.submit(input);
	const warnings = at.events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
	expect(warnings).toEqual([expect.stringContaining("81 %"), expect.stringContaining("87 %")]);
});

test("the model reads cut output while the event has the whole", async () => {
	await using at = await openTestSession([calling(["read_file", { file_path: "a.txt" }]), text("done")], {
		files: { "a.txt": "x".repeat(100_000) },
	});
	await at.session.submit("go");
	const end = at.events.find((event) => event.type === "tool_execution_end");
	expect(end?.result.details).toEqual({ output: `1 | ${"x".repeat(100_000)}` });
	const sent = at.request(1).at(-1)!.text;
	expect(sent).toContain("[WARNING: Tool output was truncated. 50004 characters were removed from the middle.");
	expect(sent.length).toBeLessThan(51_000);
});

test("limits of output can be set, also for tools of the host", async () => {
	const flood = defineTool<object>({
		name: "flood",
		label: "flood",
		toolClass: "read",
		description: "Prints much.",
		properties: {},
		required: [],
		describeCall: () => "",
		run: async () => ({ text: "y".repeat(100_000) }),
	});
	const steps = [calling(["flood", {}]), text("done")];
	await using usual = await openTestSession(steps, { tools: [flood] });
	await usual.session.submit("go");
	expect(usual.request(1).at(-1)!.text).toContain("70000 characters were removed from the middle");
	await using small = await openTestSession(steps, {
		tools: [flood],
		settings: { outputLimits: { characters: { flood: 10 } } },
	});
	await small.session.submit("go");
	expect(small.request(1).at(-1)!.text).toContain("99990 characters");
});

test("a tool of the host replaces the one of its name, and one that throws gives an error with its name", async () => {
	const broken = {
		name: "read_file",
		label: "read",
		description: "Mine.",
		parameters: { type: "object" },
		execute: () => Promise.reject(new Error("boom")),
	};
	await using at = await openTestSession([calling(["read_file", { x: 1 }]), text("done")], { tools: [broken] });
	await at.session.submit("go");
	expect(at.request(1).at(-1)).toEqual({ role: "toolResult", text: "Tool error (read_file): boom" });
});

test("calls that cannot be run get an error that says why, and the run goes on", async () => {
	await using at = await openTestSession(
		[
			reply({
				calls: [
					{ name: "fly_away", arguments: {} },
					{ name: "read_file", arguments: {} },
					{ name: "read_file", arguments: { file_path: {} } },
					{ name: "read_file", arguments: '{"file_path": "a' },
					{ name: "read_file", arguments: { file_path: "a.txt", limit: "1", other: true } },
				],
			}),
			text("done"),
		],
		{ files: { "a.txt": "one\ntwo\n" } },
	);
	expect(await at.session.submit("go")).toEqual({ reason: "stop" });
	const results = at.request(1).filter((message) => message.role === "toolResult");
	expect(results[0]!.text).toMatch(/Unknown tool: fly_away.*read_file/s);
	expect(results[1]!.text).toContain("file_path");
	expect(results[2]!.text).toContain("file_path");
	expect(results[3]!.text).toContain("could not be read");
	expect(results[4]!.text).toMatch(/^1 \| one\n/);
});

test("a tool of the host without a class needs the highest level", async () => {
	let ran = 0;
	const tool = {
		name: "deploy",
		label: "deploy",
		description: "Deploys.",
		parameters: { type: "object", properties: { to: { type: "string" } } },
		execute: async () => {
			ran++;
			return { content: [], details: {} };
		},
	};
	const asked: string[] = [];
	const gate = new PermissionGate("read-write", async (request) => {
		asked.push(`${request.label} ${request.subject}`);
		return "no";
	});
	await using at = await openTestSession([calling(["deploy", { to: "prod" }]), text("done")], { tools: [tool], gate });
	await at.session.submit("go");
	expect(asked).toEqual(['deploy {"to":"prod"}']);
	expect(ran).toBe(0);
	expect(at.request(1).at(-1)!.text).toBe("deploy tool denied by user at current permission level");
});

test("a listener that throws does not touch the run", async () => {
	const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
	onTestFinished(() => warn.mockRestore());
	await using at = await openTestSession([text("done")], {
		listener: () => {
			throw new Error("bad listener");
		},
	});
	expect(await at.session.submit("go")).toEqual({ reason: "stop" });
	expect(warn).toHaveBeenCalledWith(expect.stringContaining("bad listener"));
});

test("a reply that is cut without calls fails, one that is cut inside of a call is answered and goes on", async () => {
	await using at = await openTestSession([
		reply({ calls: [{ name: "shell", arguments: { command: "touch ran" } }], finish: "length" }),
		reply({ text: "half an ans", finish: "length" }),
	]);
	expect(await at.session.submit("go")).toMatchObject({ reason: "length" });
	expect(at.request(1).at(-1)).toMatchObject({ role: "toolResult", text: expect.stringContaining("output limit") });
	await expect(readFile(join(at.folder.path, "ran"))).rejects.toThrow("ENOENT");
});
