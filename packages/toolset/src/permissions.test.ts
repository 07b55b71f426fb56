import { expect, test } from "vitest";
import { type ApprovalAnswer, type ApprovalRequest, PermissionGate, type PermissionLevel } from "./permissions.ts";
import type { ToolClass } from "./tools/tool.ts";

const call = (toolClass: ToolClass, subject = "x") => ({ toolClass, label: toolClass, subject });

test.each<[PermissionLevel, ToolClass[]]>([
	["read-only", ["read", "subagent"]],
	["read-write", ["read", "subagent", "write"]],
	["full", ["read", "subagent", "write", "shell"]],
])("level %s lets only %s run when nobody can be asked", async (level, free) => {
	const gate = new PermissionGate(level);
	for (const toolClass of ["read", "subagent", "write", "shell"] as const) {
		const reason = await gate.check(call(toolClass));
		if (free.includes(toolClass)) expect(reason).toBeUndefined();
		else expect(reason).toContain(`${toolClass} tool denied at current permission level (${level}`);
	}
});

function scripted(level: PermissionLevel, ...answers: ApprovalAnswer[]) {
	const asked: ApprovalRequest[] = [];
	const gate = new PermissionGate(level, async (request) => {
		asked.push(request);
		await new Promise((resolve) => setImmediate(resolve));
		const answer = answers.shift();
		if (!answer) throw new Error("asked too often");
		return answer;
	});
	return { gate, asked };
}

test("yes counts for one call and no has its own words", async () => {
	const { gate, asked } = scripted("read-write", "yes", "no");
	expect(await gate.check(call("shell"))).toBeUndefined();
	expect(await gate.check(call("shell"))).toBe("shell tool denied by user at current permission level");
	expect(asked).toHaveLength(2);
	expect(gate.level).toBe("read-write");
});

test("always raises the level just far enough for the tool", async () => {
	const { gate } = scripted("read-only", "always", "no");
	expect(await gate.check(call("write"))).toBeUndefined();
	expect(gate.level).toBe("read-write");
	expect(await gate.check(call("write"))).toBeUndefined();
	expect(await gate.check(call("shell"))).toContain("denied by user");
});

test("calls that wait together are asked one after the other, and always covers those behind it", async () => {
	const { gate, asked } = scripted("read-write", "no", "always");
	const reasons = await Promise.all(["a", "b", "c"].map((subject) => gate.check(call("shell", subject))));
	expect(reasons).toEqual([expect.stringContaining("denied by user"), undefined, undefined]);
	expect(asked.map((request) => request.subject)).toEqual(["a", "b"]);
});

test("a question that fails refuses its call only", async () => {
	const { gate } = scripted("read-write");
	await expect(gate.check(call("shell"))).rejects.toThrow("asked too often");
	await expect(gate.check(call("shell"))).rejects.toThrow("asked too often");
	expect(await gate.check(call("write"))).toBeUndefined();
});

test("nobody is asked after an abort", async () => {
	const { gate, asked } = scripted("read-write", "yes");
	expect(await gate.check(call("shell"), AbortSignal.abort())).toContain("aborted");
	expect(asked).toEqual([]);
});
