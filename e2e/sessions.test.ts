import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reply } from "@prime-agent/testkit";
import { expect, it, vi } from "vitest";
import { type CliHarness, setUpCli } from "./cli-harness.ts";

/** Many processes one after the other: a hang guard, no limit. */
vi.setConfig({ testTimeout: 240_000 });

const cell = (code: string) => reply({ calls: [{ name: "ipython", arguments: { code } }] });

const sessionsOf = (cli: CliHarness) => join(cli.agentFolder, "sessions");

/** The only session file. */
async function findFile(cli: CliHarness): Promise<string> {
	const names = (await readdir(sessionsOf(cli))).filter((name) => name.endsWith(".jsonl"));
	expect(names).toHaveLength(1);
	return join(sessionsOf(cli), names[0]!);
}

const readLines = async (path: string) => (await readFile(path, "utf8")).trimEnd().split("\n");

/** What the user said, as the newest request tells it. */
function prompts(cli: CliHarness): string[] {
	const messages: { role: string; content: string }[] = cli.server.modelRequests.at(-1)!.body.messages;
	return messages.filter(({ role }) => role === "user").map(({ content }) => content);
}

/** The file that the newest result of a request names for what it leaves out. */
function sideFileOf(request: { body: { messages: { content: string }[] } }): string {
	return /the whole output is in (\S+)/.exec(request.body.messages.at(-1)!.content)?.[1] ?? "none";
}

it("loses no prompt to a crash in the middle of a line, not even when it was the first one (S01, S03, S17)", async () => {
	const cli = await setUpCli();
	cli.server.script(...["1", "2", "3", "4"].map((text) => reply({ text })));
	await cli.run(["-p", "first"]);
	const file = await findFile(cli);
	const half = '{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026';
	await appendFile(file, half);

	await writeFile(join(cli.agentFolder, "settings.json"), '{"retry":');
	const mended = await cli.run(["-p", "--mode", "json", "--continue", "second"]);
	expect(mended.code).toBe(0);
	const events = mended.stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	const notices = events.filter(({ type, text }) => type === "notice" && text.includes(`last ${half.length} bytes`));
	expect(notices.map(({ text }) => text)).toEqual([
		`1 line of the session file was skipped (its last ${half.length} bytes were cut off). Everything else is there.`,
	]);
	expect(mended.stderr).toMatch(
		/^Warning: .*settings\.json is not used: it is not valid JSON \(line \d+, column \d+\)\..*\n$/,
	);
	expect(await readFile(join(cli.agentFolder, "settings.json"), "utf8")).toBe('{"retry":');
	await rm(join(cli.agentFolder, "settings.json"));
	expect(await readFile(`${file}.torn`, "utf8")).toBe(`${half}\n`);
	expect(await cli.run(["-p", "--continue", "third"])).toMatchObject({ code: 0, stdout: "3\n", stderr: "" });
	expect(prompts(cli)).toEqual(["first", "second", "third"]);

	const [header = "", ...entries] = await readLines(file);
	const last = entries.at(-1)!;
	const damaged = [header.slice(0, 30), header.slice(0, 20) + header, ...entries, last.slice(0, 40) + last, last];
	await writeFile(file, `${damaged.join("\n")}\n`);
	const fourth = await cli.run(["-p", "--continue", "fourth"]);
	expect(fourth).toMatchObject({ code: 0, stdout: "4\n" });
	expect(fourth.stderr).toMatch(
		/^Warning: 3 lines of the session file were skipped \(line 1: it is not JSON\)\. Everything else is there\.\n$/,
	);
	expect(prompts(cli)).toEqual(["first", "second", "third", "fourth"]);
	expect(cli.server.rejections).toEqual([]);
});

it("keeps one entry on one line whatever a cell prints, and goes on with a file that was split by hand (S05)", async () => {
	const cli = await setUpCli();
	cli.server.script(
		cell("print('a\\r\\nb\\x0bc\\x0cd\\u2028e\\u2029f\\x85g\\x00h\\rlast')"),
		reply({ text: "one" }),
		reply({ text: "two" }),
	);
	expect(await cli.run(["-p", "print odd things"])).toMatchObject({ code: 0, stdout: "one\n" });
	const file = await findFile(cli);
	const lines = await readLines(file);
	const entries = lines.map((line) => JSON.parse(line));
	expect(entries.filter(({ type }) => type === "message")).toHaveLength(4);
	const index = entries.findIndex(({ message }) => message?.role === "toolResult");
	expect(JSON.stringify(entries[index])).toContain("last");

	lines[index] = lines[index]!.replace("last", "la\nst");
	await writeFile(file, `${lines.join("\n")}\n`);
	const result = await cli.run(["-p", "--continue", "and now?"]);
	expect(result).toMatchObject({ code: 0, stdout: "two\n" });
	expect(result.stderr).toContain(`2 lines of the session file were skipped (line ${index + 1}: it is not JSON)`);
	expect(prompts(cli)).toEqual(["print odd things", "and now?"]);
	expect(cli.server.rejections).toEqual([]);
});

it("keeps megabytes out of the session and out of requests, whether a cell printed them or an old file has them (S07)", async () => {
	const cli = await setUpCli();
	cli.server.script(
		cell("print('x' * 12_000_000)"),
		(request) => cell(`import os; print(os.path.getsize("${sideFileOf(request)}"))`),
		reply({ text: "long" }),
		reply({ text: "still quick" }),
	);
	expect(await cli.run(["-p", "print much"])).toMatchObject({ code: 0, stdout: "long\n" });
	const file = await findFile(cli);
	expect((await stat(file)).size).toBeLessThan(200_000);
	expect(cli.server.modelRequests[2]!.body.messages.at(-1).content).toBe("12000001\n");

	const lines = await readLines(file);
	const index = lines.findIndex((line) => line.includes('"role":"toolResult"'));
	const entry = JSON.parse(lines[index]!);
	entry.message.content[0].text = "y".repeat(12_000_000);
	lines[index] = JSON.stringify(entry);
	await writeFile(file, `${lines.join("\n")}\n`);
	expect(await cli.run(["-p", "--continue", "go on"])).toMatchObject({ code: 0, stdout: "still quick\n" });
	for (const request of cli.server.modelRequests) expect(Buffer.byteLength(request.raw)).toBeLessThan(200_000);
	expect(cli.server.rejections).toEqual([]);
});

it("tells why sessions cannot be listed instead of finding none (S09)", async () => {
	const cli = await setUpCli();
	await writeFile(sessionsOf(cli), "This is no folder.");
	const result = await cli.run(["-p", "--resume", "abcd", "hello"]);
	expect(result).toMatchObject({ code: 1, stdout: "" });
	expect(result.stderr).toBe(`Error: The sessions in ${sessionsOf(cli)} cannot be listed (ENOTDIR).\n`);
	expect(cli.server.requests).toHaveLength(0);
});

it("lets one process at a time write a session, names it to the others, and keeps one line of talk (S11)", async () => {
	const cli = await setUpCli();
	let release: () => void = () => undefined;
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const echo = (request: { body: { messages: { content: unknown }[] } }) =>
		reply({ text: `re ${request.body.messages.at(-1)?.content}` });
	cli.server.script(async (request) => {
		await held;
		return echo(request);
	});
	const owner = cli.start(["-p", "start"], { input: "" });
	await cli.server.waitForRequests(1);
	const refused = await cli.run(["-p", "--continue", "refused"]);
	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr).toMatch(
		new RegExp(`^Error: Session .* is already active in process ${owner.pid}, since .*\\.\n$`),
	);
	expect(cli.server.modelRequests).toHaveLength(1);
	release();
	expect(await owner.done).toMatchObject({ code: 0, stdout: "re start\n" });

	cli.server.script(...Array.from({ length: 6 }, () => echo));
	const say = async (prompt: string): Promise<void> => {
		const result = await cli.run(["-p", "--continue", prompt]);
		if (result.code === 0) return expect(result.stdout).toBe(`re ${prompt}\n`);
		expect(result.stderr).toContain("already active");
		return say(prompt);
	};
	const talk = async (name: string) => {
		for (let n = 0; n < 3; n++) await say(`${name}${n}`);
	};
	await Promise.all([talk("a"), talk("b")]);
	const entries = (await readLines(await findFile(cli))).slice(1).map((line) => JSON.parse(line));
	const links = entries.filter(({ type }) => type !== "session_state").map(({ id, parentId }) => ({ id, parentId }));
	expect(links.map(({ parentId }) => parentId)).toEqual([null, ...links.slice(0, -1).map(({ id }) => id)]);
	expect(prompts(cli).sort()).toEqual(["a0", "a1", "a2", "b0", "b1", "b2", "start"]);
	expect(await readdir(join(cli.agentFolder, "session-leases"))).toEqual([]);
	expect(cli.server.rejections).toEqual([]);
});

it("goes on with the sessions of older versions: a folder per project, no ids, unknown kinds", async () => {
	const cli = await setUpCli();
	cli.server.script(reply({ text: "I know you." }), reply({ text: "Still." }));
	const project = join(sessionsOf(cli), "--home-user-project--");
	await mkdir(project, { recursive: true });
	const id = "01890000-0000-7000-8000-00000000aaaa";
	const timestamp = "2025-01-01T00:00:00.000Z";
	const user = {
		type: "message",
		timestamp,
		message: { role: "user", content: [{ type: "text", text: "old words" }], timestamp: 1 },
	};
	const usage = {
		input: 1,
		output: 1,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 2,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const answer = {
		...{ role: "assistant", api: "openai-completions", provider: "gone", model: "gone", usage, timestamp: 2 },
		content: [{ type: "text", text: "old answer" }],
		stopReason: "stop",
		mood: "unknown field",
	};
	const old = [
		{ type: "session", id, timestamp, cwd: cli.cwd },
		{ type: "hologram", timestamp, data: [1, 2] },
		user,
		{ type: "message", timestamp, message: answer },
	];
	const text = old.map((line) => `${JSON.stringify(line)}\n`).join("");
	await writeFile(join(project, `2025-01-01_${id}.jsonl`), text);

	expect(await cli.run(["-p", "--continue", "who am I?"])).toMatchObject({ code: 0, stdout: "I know you.\n" });
	expect(await readdir(sessionsOf(cli))).toEqual([`${id}.jsonl`]);
	expect((await readFile(join(sessionsOf(cli), `${id}.jsonl`), "utf8")).startsWith(text)).toBe(true);
	expect(await cli.run(["-p", "--resume", id.slice(-12), "sure?"])).toMatchObject({ code: 0, stdout: "Still.\n" });
	const said = cli.server.modelRequests.at(-1)!.body.messages.slice(1);
	expect(JSON.stringify(said)).toMatch(/old words.*old answer.*who am I\?.*I know you\..*sure\?/);
	expect(cli.server.rejections).toEqual([]);
});
