import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ModelStep, reply, waitFor } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { PermissionGate } from "../permissions.ts";
import { calling, openTestSession, readContent, type TestSession } from "../testing/session.ts";

type Call = Parameters<Extract<ModelStep, (...args: never[]) => unknown>>[0];

function firstUserText(call: Call): string {
	return readContent(call.context.messages.find((message) => message.role === "user")?.content);
}

function lastResult(call: Call): Record<string, unknown> {
	const result = call.context.messages.findLast((message) => message.role === "toolResult");
	return JSON.parse(readContent(result?.content));
}

/** Answers parent and children from separate scripts; the parent's input begins with "parent". */
function splitScripts(parent: ModelStep[], child: ModelStep[]): ModelStep {
	return (call) => {
		const step = (firstUserText(call).startsWith("parent") ? parent : child).shift();
		if (!step) throw new Error("script exhausted");
		return typeof step === "function" ? step(call) : step;
	};
}

const repeat = (step: ModelStep) => Array(12).fill(step) as ModelStep[];

test("a subagent works on its own conversation and its result is waited for", async () => {
	const parent: ModelStep[] = [
		calling(["spawn_agent", { task: "child task", working_dir: "..sub" }]),
		(call) => calling(["wait", { agent_id: lastResult(call).agent_id as string }]),
		reply({ text: "all done" }),
	];
	const child: ModelStep[] = [calling(["read_file", { file_path: "x.txt" }]), reply({ text: "child answer" })];
	await using at = await openTestSession(repeat(splitScripts(parent, child)), { files: { "..sub/x.txt": "deep\n" } });
	expect(await at.session.submit("parent input")).toEqual({ reason: "stop" });
	const childCalls = at.model.calls.filter((call) => firstUserText(call) === "child task");
	expect(childCalls).toHaveLength(2);
	expect(readContent(childCalls[1]!.context.messages.at(-1)?.content)).toBe("1 | deep");
	expect(readContent(childCalls[0]!.context.messages[0]?.content)).toContain(
		`Working directory: ${at.folder.path}/..sub`,
	);
	const waited = at.events.find((event) => event.type === "tool_execution_end" && event.toolName === "wait");
	expect(waited).toMatchObject({ isError: false });
	const { result } = waited as Extract<typeof waited, { type: "tool_execution_end" }>;
	expect(JSON.parse(readContent(result.content))).toMatchObject({
		status: "completed",
		success: true,
		turns: 2,
		output: "child answer",
	});
	expect(at.session.turns).toBe(3);
	const forwarded = at.events.filter((event) => event.type === "subagent_event");
	expect(forwarded.length).toBeGreaterThan(0);
	expect(forwarded.some(({ event }) => event.type === "message_update")).toBe(false);
});

test("the tokens of a subagent count for its parent", async () => {
	const usage = { input: 100, output: 10 };
	const parent: ModelStep[] = [
		reply({ calls: [{ name: "spawn_agent", arguments: { task: "child" } }], usage }),
		(call) => reply({ calls: [{ name: "wait", arguments: { agent_id: lastResult(call).agent_id } }], usage }),
		reply({ text: "done", usage }),
	];
	await using at = await openTestSession(repeat(splitScripts(parent, [reply({ text: "x", usage })])));
	await at.session.submit("parent");
	expect(at.session.usage).toEqual({ prompt: 400, output: 40 });
});

test("a subagent cannot start subagents", async () => {
	const parent: ModelStep[] = [
		calling(["spawn_agent", { task: "child" }]),
		(call) => calling(["wait", { agent_id: lastResult(call).agent_id as string }]),
		reply({ text: "done" }),
	];
	const child: ModelStep[] = [calling(["spawn_agent", { task: "grandchild" }]), reply({ text: "gave up" })];
	await using at = await openTestSession(repeat(splitScripts(parent, child)));
	await at.session.submit("parent");
	const second = at.model.calls.filter((call) => firstUserText(call) === "child")[1];
	expect(readContent(second?.context.messages.at(-1)?.content)).toContain("Unknown tool: spawn_agent");
});

test("a subagent asks the same gate, and what its parent may not do it may not do either", async () => {
	const parent: ModelStep[] = [
		calling(["spawn_agent", { task: "child" }]),
		(call) => calling(["wait", { agent_id: lastResult(call).agent_id as string }]),
		reply({ text: "done" }),
	];
	const child: ModelStep[] = [calling(["write_file", { file_path: "x", content: "y" }]), reply({ text: "no" })];
	await using at = await openTestSession(repeat(splitScripts(parent, child)), {
		gate: new PermissionGate("read-only"),
	});
	await at.session.submit("parent");
	const second = at.model.calls.filter((call) => firstUserText(call) === "child")[1];
	expect(readContent(second?.context.messages.at(-1)?.content)).toContain(
		"write tool denied at current permission level",
	);
	await expect(readFile(join(at.folder.path, "x"))).rejects.toThrow("ENOENT");
});

test("waits for two subagents run together and messages reach a running one", async () => {
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	const ids: string[] = [];
	const step: ModelStep = async (call) => {
		const first = firstUserText(call);
		const results = call.context.messages.filter((message) => message.role === "toolResult");
		if (first === "parent") {
			if (results.length === 0) return calling(["spawn_agent", { task: "slow" }], ["spawn_agent", { task: "quick" }]);
			if (results.length === 2) {
				ids.push(...results.map((result) => JSON.parse(readContent(result.content)).agent_id as string));
				const [slow, quick] = ids as [string, string];
				return calling(
					["wait", { agent_id: slow }],
					["wait", { agent_id: quick }],
					["send_input", { agent_id: slow, message: "hurry" }],
				);
			}
			return reply({ text: "done" });
		}
		if (first === "quick") {
			release();
			return reply({ text: "quick answer" });
		}
		await released;
		const texts = call.context.messages.map((message) => readContent(message.content));
		return texts.includes("hurry") ? reply({ text: "slow answer" }) : calling(["glob", { pattern: "*" }]);
	};
	await using at = await openTestSession(Array(40).fill(step), { settings: { loopWindow: 0 } });
	expect(await at.session.submit("parent")).toEqual({ reason: "stop" });
	const outputs = at.request(at.model.calls.length - 1).filter((message) => message.role === "toolResult");
	expect(outputs.map((message) => message.text).join()).toMatch(/slow answer.*quick answer/s);
});

async function driveChild(at: TestSession, name: string, args: object): Promise<string> {
	at.model.script(calling([name, args]), reply({ text: "ok" }));
	await at.session.submit("parent");
	return at.request(at.model.calls.length - 1).findLast((message) => message.role === "toolResult")!.text;
}

test("closing answers the final status once, and finished, closed and unknown agents take no messages", async () => {
	await using at = await openTestSession([
		calling(["spawn_agent", { task: "child" }]),
		(call) => (firstUserText(call) === "child" ? reply({ text: "answer" }) : reply({ text: "ok" })),
		(call) => (firstUserText(call) === "child" ? reply({ text: "answer" }) : reply({ text: "ok" })),
	]);
	await at.session.submit("parent");
	await waitFor(() => at.events.some((event) => event.type === "subagent" && event.phase === "completed"), "the child");
	const agent_id = (at.events.find((event) => event.type === "subagent") as { agentId: string }).agentId;
	expect(await driveChild(at, "send_input", { agent_id, message: "x" })).toBe(`The agent ${agent_id} is completed.`);
	expect(JSON.parse(await driveChild(at, "wait", { agent_id }))).toMatchObject({ success: true, output: "answer" });
	expect(JSON.parse(await driveChild(at, "wait", { agent_id }))).toMatchObject({ success: true });
	expect(JSON.parse(await driveChild(at, "close_agent", { agent_id }))).toMatchObject({ status: "completed" });
	expect(await driveChild(at, "close_agent", { agent_id })).toContain("closed already");
	expect(await driveChild(at, "wait", { agent_id: "nobody" })).toContain("No agent has the id nobody");
	expect(await driveChild(at, "spawn_agent", { task: "x", working_dir: ".." })).toContain("outside");
});

test("a subagent that reaches its limit of turns is no success", async () => {
	const parent: ModelStep[] = [
		calling(["spawn_agent", { task: "child", max_turns: 1 }]),
		(call) => calling(["wait", { agent_id: lastResult(call).agent_id as string }]),
		reply({ text: "done" }),
	];
	await using at = await openTestSession(repeat(splitScripts(parent, [calling(["glob", { pattern: "*" }])])));
	await at.session.submit("parent");
	const result = JSON.parse(at.request(at.model.calls.length - 1).at(-1)!.text);
	expect(result).toMatchObject({ success: false, turns: 1, reason: expect.stringContaining("limit") });
});

test("closing the parent closes its subagents and ends their processes", async () => {
	const step: ModelStep = (call) => {
		if (firstUserText(call) === "child") return calling(["shell", { command: "echo $$ > pid; sleep 600" }]);
		const results = call.context.messages.filter((message) => message.role === "toolResult");
		return results.length === 0
			? calling(["spawn_agent", { task: "child" }])
			: calling(["wait", { agent_id: lastResult(call).agent_id as string }]);
	};
	await using at = await openTestSession(repeat(step));
	const running = at.session.submit("parent");
	const pid = async () => Number(await readFile(join(at.folder.path, "pid"), "utf8"));
	await waitFor(async () => (await pid().catch(() => 0)) > 0, "the child's command");
	await at.session.close();
	expect(await running).toMatchObject({ reason: "aborted" });
	const group = -(await pid());
	await waitFor(() => {
		try {
			process.kill(group, 0);
			return false;
		} catch {
			return true;
		}
	}, "the child's processes to be gone");
});

test("eight subagents run at once, and a reply that asks for more gets an error for each further one", async () => {
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	const spawn: [string, object] = ["spawn_agent", { task: "child" }];
	const step: ModelStep = async (call) => {
		if (firstUserText(call) === "child") {
			await released;
			return reply({ text: "answer" });
		}
		if (call.context.messages.length < 4) return calling(...Array(10).fill(spawn));
		release();
		return reply({ text: "done" });
	};
	await using at = await openTestSession(Array(20).fill(step));
	expect(await at.session.submit("parent")).toEqual({ reason: "stop" });
	const answers = at.events.flatMap((event) =>
		event.type === "message_end" && event.message.role === "toolResult" ? [readContent(event.message.content)] : [],
	);
	expect(answers.map((text) => text.includes("8 agents are running"))).toEqual([...Array(8).fill(false), true, true]);
});

test("a session starts 64 subagents and no more", async () => {
	const step: ModelStep = (call) => {
		if (firstUserText(call) === "child") return reply({ text: "answer" });
		const results = call.context.messages.filter((message) => message.role === "toolResult");
		if (results.length === 129) return reply({ text: "done" });
		return results.length % 2 === 0
			? calling(["spawn_agent", { task: "child" }])
			: calling(["wait", { agent_id: lastResult(call).agent_id as string }]);
	};
	await using at = await openTestSession(Array(250).fill(step), { settings: { loopWindow: 0 } });
	expect(await at.session.submit("parent")).toEqual({ reason: "stop" });
	const results = at.events.filter((event) => event.type === "tool_execution_end");
	expect(results.filter(({ isError }) => isError)).toHaveLength(1);
	expect(JSON.stringify(results.at(-1))).toContain("All 64 agents");
});
