import { reply } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { makeAgent } from "./testing/agent.ts";
import { startOnTerminal } from "./testing/terminal.ts";

const shell = (command: string) => ({ name: "shell", arguments: { command } });
const write = (file_path: string) => ({ name: "write_file", arguments: { file_path, content: "new\n" } });
const done = reply({ text: "done" });
const denied = (label: string) => `${label} tool denied by user at current permission level`;

describe.concurrent("on a terminal", () => {
	test("a command is asked for in two lines on stderr, although stderr is a file, and runs after y", async () => {
		await using at = await makeAgent({ script: [reply({ calls: [shell("echo ran > made")] }), done] });
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "y");
		expect(await agent.done).toBe(0);
		expect(agent.stderr).toMatch(
			/^\[tool\] shell echo ran > made\nAgent wants to run shell: echo ran > made\nAllow\? \[y\]es \/ \[n\]o \/ \[a\]lways Done \(/,
		);
		expect(agent.stdout).toBe("done\n");
		expect(await at.read("made")).toBe("ran\n");
	});

	test("y counts once, and n tells the model in fixed words", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell("touch one")] }), reply({ calls: [shell("touch two")] }), done],
		});
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "Y");
		await agent.answer(2, "no");
		expect(await agent.done).toBe(0);
		expect([await at.read("one"), await at.read("two")]).toEqual(["", undefined]);
		expect(at.server.requests[2]?.body.messages.at(-1).content[0]).toMatchObject({
			is_error: true,
			content: denied("shell"),
		});
		expect(agent.stderr).toContain("[refused] shell touch two (not approved)\n");
		expect(agent.stderr).not.toContain("[refused] shell touch one");
	});

	test("after a no further question comes, also in later turns", async () => {
		await using at = await makeAgent({
			script: [
				reply({ calls: [shell("touch one"), shell("touch two")] }),
				reply({ calls: [shell("touch three")] }),
				done,
			],
		});
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "a");
		expect(await agent.done).toBe(0);
		expect(agent.stderr.match(/Allow\?/g)).toHaveLength(1);
		expect([await at.read("one"), await at.read("two"), await at.read("three")]).toEqual(["", "", ""]);
	});

	test("always for a file in read-only covers files and not commands", async () => {
		await using at = await makeAgent({
			script: [
				reply({ calls: [write("a.txt")] }),
				reply({
					calls: [{ name: "edit_file", arguments: { file_path: "a.txt", old_string: "new", new_string: "newer" } }],
				}),
				reply({ calls: [shell("touch made")] }),
				done,
			],
		});
		const agent = startOnTerminal(at, "x", "--permissions", "read-only");
		await agent.answer(1, "a");
		await agent.answer(2, "n");
		expect(await agent.done).toBe(0);
		expect(await at.read("a.txt")).toBe("newer\n");
		expect(await at.read("made")).toBeUndefined();
	});

	test("calls of one reply are asked for one by one, and a no stops only its own", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell("touch one"), shell("touch two"), shell("touch three")] }), done],
		});
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "y");
		await agent.answer(2, "n");
		await agent.answer(3, "y");
		expect(await agent.done).toBe(0);
		expect(agent.stderr.match(/wants to run shell: (.*)/g)).toEqual([
			"wants to run shell: touch one",
			"wants to run shell: touch two",
			"wants to run shell: touch three",
		]);
		const results = at.server.requests[1]?.body.messages.at(-1).content;
		expect(results.map((result: { is_error: boolean }) => result.is_error)).toEqual([false, true, false]);
		expect([await at.read("one"), await at.read("two"), await at.read("three")]).toEqual(["", undefined, ""]);
	});

	test("an answer that is none is asked again", async () => {
		await using at = await makeAgent({ script: [reply({ calls: [shell("touch made")] }), done] });
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "maybe");
		await agent.answer(2, "");
		await agent.answer(3, "yes");
		expect(await agent.done).toBe(0);
		expect(await at.read("made")).toBe("");
	});

	test("what is typed before the question answers nothing", async () => {
		await using at = await makeAgent({
			script: [
				async () => {
					agent.type("y\ry\r");
					return reply({ calls: [shell("touch made")], delayMs: 100 });
				},
				done,
			],
		});
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "n");
		expect(await agent.done).toBe(0);
		expect(await at.read("made")).toBeUndefined();
	});

	test("the end of the input means no", async () => {
		await using at = await makeAgent({ script: [reply({ calls: [shell("touch made")] }), done] });
		const agent = startOnTerminal(at, "x");
		await agent.waitForQuestion(1);
		agent.type("\u0004");
		expect(await agent.done).toBe(0);
		expect(await at.read("made")).toBeUndefined();
		expect(at.server.requests[1]?.raw).toContain(denied("shell"));
	});

	test("a command of several lines, a long one and one with hidden signs are shown whole before they are allowed", async () => {
		const hidden = `echo safe\nrm -rf /nowhere # ${"x".repeat(250)}\u001b[2K\u202e`;
		await using at = await makeAgent({ script: [reply({ calls: [shell(hidden)] }), done] });
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "n");
		expect(await agent.done).toBe(0);
		const shown = agent.stderr.split("\n").filter((line) => line.startsWith("  | "));
		expect(shown).toEqual(["  | echo safe", `  | rm -rf /nowhere # ${"x".repeat(250)}\\u001b[2K\\u202e`]);
		expect(agent.stderr).not.toContain("\u001b");
		expect(agent.stderr).not.toContain("\u202e");
	});

	test("a command that begins like an approved one is asked for again", async () => {
		await using at = await makeAgent({
			script: [
				reply({ calls: [shell("true")] }),
				reply({
					calls: [
						shell("true; touch made"),
						shell("true && touch made"),
						shell("true\ntouch made"),
						shell("true & touch made"),
					],
				}),
				done,
			],
		});
		const agent = startOnTerminal(at, "x");
		await agent.answer(1, "y");
		for (let question = 2; question <= 5; question++) await agent.answer(question, "n");
		expect(await agent.done).toBe(0);
		expect(await at.read("made")).toBeUndefined();
	});

	test("a file is asked for by the place it really has", async () => {
		await using at = await makeAgent({
			script: [
				reply({ calls: [shell("ln -s /etc link")] }),
				reply({ calls: [write("link/../tmp/never-written"), write("link/agent-test")] }),
				done,
			],
		});
		const agent = startOnTerminal(at, "x", "--permissions", "read-only");
		await agent.answer(1, "y");
		await agent.answer(2, "n");
		await agent.answer(3, "n");
		expect(await agent.done).toBe(0);
		expect(agent.stderr).toContain("Agent wants to run write: tmp/never-written\n");
		expect(agent.stderr).toContain("Agent wants to run write: /etc/agent-test\n");
	});

	test("--auto-approve asks nobody and refuses", async () => {
		await using at = await makeAgent({ script: [reply({ calls: [shell("touch made")] }), done] });
		const agent = startOnTerminal(at, "x", "--auto-approve");
		expect(await agent.done).toBe(0);
		expect(agent.stderr).not.toContain("Allow?");
		expect(await at.read("made")).toBeUndefined();
		expect(agent.stderr).toContain(
			"[refused] shell touch made (not allowed by --permissions read-write, and --auto-approve asks nobody)\n",
		);
		expect(at.server.requests[1]?.raw).toContain("nobody is asked: the user has passed --auto-approve");
		expect(at.server.requests[1]?.raw).not.toContain("not interactive");
	});
});
