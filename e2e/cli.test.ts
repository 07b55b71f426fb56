import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply, sharedPrefix } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { setUpCli } from "./cli-harness.ts";

const cell = (code: string) => reply({ calls: [{ name: "ipython", arguments: { code } }] });

/** What the model was told a cell gave. */
const resultOf = (request: { body: { messages: { role: string; content: unknown }[] } }) =>
	String(request.body.messages.at(-1)?.content);

it("works through cells that share variables, run a script and fail, and prints the answer", async () => {
	const { run, server } = await setUpCli();
	server.script(
		cell("x = 41\nx + 1"),
		cell("%%bash\necho $((x + 2))\necho from a script"),
		cell("print(x)\nraise ValueError('wrong')"),
		reply({ text: "The answer is 42." }),
	);
	const result = await run(["-p", "compute it"]);
	expect(result).toMatchObject({ code: 0, stdout: "The answer is 42.\n", stderr: "" });
	expect(server.rejections).toEqual([]);
	const [, afterFirst, afterScript, afterError] = server.modelRequests;
	expect(resultOf(afterFirst!)).toContain("42");
	expect(resultOf(afterScript!)).toContain("from a script");
	expect(resultOf(afterError!)).toMatch(/41\n[\s\S]*ValueError: wrong/);
});

it("continues a session with every byte of what was sent before", async () => {
	const { run, server } = await setUpCli();
	server.script(cell("x = 1"), reply({ text: "one" }), reply({ text: "two" }));
	await run(["-p", "first"]);
	expect(await run(["-p", "--continue", "second"])).toMatchObject({ code: 0, stdout: "two\n" });
	const [, before, after] = server.modelRequests;
	expect(sharedPrefix(before!, after!)).toMatchObject({ isPrefix: true });
	expect(after?.body.messages.at(-1)).toMatchObject({ role: "user", content: "second" });
});

it("says little in its first request: at most 6,500 bytes", async () => {
	const { run, server } = await setUpCli();
	server.script(reply({ text: "hello" }));
	await run(["-p", "hi"]);
	expect(Buffer.byteLength(server.modelRequests[0]!.raw)).toBeLessThanOrEqual(6_500);
});

it("keeps a session in one private file that is named like its id", async () => {
	const { run, server, agentFolder } = await setUpCli();
	server.script(reply({ text: "hello" }));
	await run(["-p", "hi"]);
	const [name, ...others] = await readdir(join(agentFolder, "sessions"));
	expect(others).toEqual([]);
	const path = join(agentFolder, "sessions", name!);
	const header = JSON.parse((await readFile(path, "utf8")).split("\n")[0]!);
	expect(name).toBe(`${header.id}.jsonl`);
	expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it("resumes a session by its path, its id, or the end of its id, in the session's own folder", async () => {
	const { run, server, home, agentFolder, cwd } = await setUpCli();
	server.script(reply({ text: "1" }), reply({ text: "2" }), reply({ text: "3" }), reply({ text: "4" }));
	await run(["-p", "first"]);
	const [name] = await readdir(join(agentFolder, "sessions"));
	const id = name!.replace(".jsonl", "");
	for (const selector of [join(agentFolder, "sessions", name!), id, id.slice(-12)]) {
		const result = await run(["-p", "--resume", selector, "more"], { cwd: home.path });
		expect(result).toMatchObject({ code: 0, stderr: `The session goes on in its own folder, ${cwd}.\n` });
	}
	expect(server.modelRequests.at(-1)?.body.messages.filter((m: { role: string }) => m.role === "user")).toHaveLength(4);
	expect(await readdir(join(agentFolder, "sessions"))).toEqual([name]);
});

it("lists sessions to pick from when --resume names none, without waiting for its input", async () => {
	const { run, start, server } = await setUpCli();
	server.script(reply({ text: "1" }), reply({ text: "2" }));
	await run(["-p", "fix the tests"]);
	for (const argv of [["-p", "--resume"], ["-r"], ["--mode", "json", "-r", "--", "and more"]]) {
		const live = start(argv);
		expect(await live.done).toMatchObject({ code: 1, stdout: "" });
		const listed =
			/^Error: Name the session [^\n]+:\n {2}([0-9a-f]{12}) {2}(?:just now|\d+ minutes? ago) {2}fix the tests\n$/;
		expect(live.stderr).toMatch(listed);
		const [, end = ""] = listed.exec(live.stderr)!;
		if (argv.includes("--resume")) expect((await run(["-p", "-r", end, "go on"])).stdout).toBe("2\n");
	}
});

it("obeys the project settings of the folder that a resumed session works in", async () => {
	const { run, server, home, agentFolder, cwd } = await setUpCli();
	server.script(reply({ text: "1" }), reply({ text: "2" }));
	await run(["-p", "first"]);
	await mkdir(join(cwd, ".prime", "agent"), { recursive: true });
	const settings = { defaultProvider: "mock", defaultModel: "other" };
	await writeFile(join(cwd, ".prime", "agent", "settings.json"), JSON.stringify(settings));
	const [name] = await readdir(join(agentFolder, "sessions"));
	const result = await run(["-p", "-r", name!.replace(".jsonl", ""), "more"], { cwd: home.path });
	expect(result.stderr).toContain('Model "mock/other" not found.');
});

it("keeps its sessions in the folder of --session-dir, and finds them there", async () => {
	const { run, server, cwd, agentFolder } = await setUpCli();
	server.script(reply({ text: "one" }), reply({ text: "two" }));
	await run(["-p", "--session-dir", "saved", "hi"]);
	expect(await readdir(join(cwd, "saved"))).toHaveLength(1);
	expect(await run(["-p", "--session-dir", "saved", "-c", "more"])).toMatchObject({ code: 0, stdout: "two\n" });
	expect(await readdir(join(cwd, "saved"))).toHaveLength(1);
	await expect(readdir(join(agentFolder, "sessions"))).rejects.toThrow("ENOENT");
});

it("leaves no session behind with --no-session", async () => {
	const { run, server, agentFolder } = await setUpCli();
	server.script(reply({ text: "hello" }));
	expect((await run(["-p", "--no-session", "hi"])).stdout).toBe("hello\n");
	await expect(readdir(join(agentFolder, "sessions"))).rejects.toThrow("ENOENT");
});

it("puts piped text, files and words into one prompt, in that order", async () => {
	const { run, server, cwd } = await setUpCli();
	await writeFile(join(cwd, "notes.txt"), "from a file\n");
	server.script(reply({ text: "seen" }));
	await run(["-p", "@notes.txt", "and", "words"], { input: "from a pipe\n" });
	expect(server.modelRequests[0]?.body.messages.at(-1).content).toBe(
		`<stdin>\nfrom a pipe\n</stdin>\n\n<file name="${cwd}/notes.txt">\nfrom a file\n</file>\n\nand words`,
	);
});

it("works in the folder of --cwd with its instructions, and leaves them out when told to", async () => {
	const { run, server, cwd } = await setUpCli();
	await mkdir(join(cwd, "inner"));
	await writeFile(join(cwd, "inner", "AGENTS.md"), "Always say please.");
	server.script(cell("import os; print(os.getcwd())"), reply({ text: "1" }), reply({ text: "2" }));
	await run(["-p", "--cwd", "inner", "hi"]);
	await run(["-p", "--cwd", "inner", "-nc", "hi"]);
	const system = server.modelRequests.map((request) => request.body.messages[0].content);
	expect(system[0]).toContain("Always say please.");
	expect(resultOf(server.modelRequests[1]!)).toContain(join(cwd, "inner"));
	expect(system[2]).not.toContain("Always say please.");
});

it("replaces and extends the system prompt as told", async () => {
	const { run, server } = await setUpCli();
	server.script(reply({ text: "1" }));
	await run(["-p", "--system-prompt", "You are a parrot.", "--append-system-prompt", "Never sing.", "hi"]);
	const system: string = server.modelRequests[0]?.body.messages[0].content;
	expect(system).toMatch(/^You are a parrot\.[\s\S]*Never sing\./);
	expect(system).not.toContain("Prime Agent");
});

it("says once when the model does not think as --thinking asks, and sends the level that it takes", async () => {
	const { run, server, agentFolder } = await setUpCli();
	server.script(cell("1"), reply({ text: "done" }), reply({ text: "high" }));
	const plain = await run(["-p", "--thinking", "high", "hi"]);
	expect(plain).toMatchObject({ code: 0, stdout: "done\n" });
	expect(plain.stderr).toBe(
		'mock/mock does not think, so --thinking high changes nothing. "prime-agent model list" shows which models do.\n',
	);
	const file = join(agentFolder, "models.json");
	await writeFile(file, (await readFile(file, "utf8")).replace('"id":"mock"', '"id":"mock","reasoning":true'));
	const clamped = await run(["-p", "--thinking", "max", "hi"]);
	expect(clamped).toMatchObject({ code: 0, stdout: "high\n", stderr: expect.stringContaining("takes high;") });
	expect(server.modelRequests.at(-1)?.body).toMatchObject({ reasoning_effort: "high" });
});

it("offers no tools with --no-tools", async () => {
	const { run, server } = await setUpCli();
	server.script(reply({ text: "1" }));
	await run(["-p", "--no-tools", "hi"]);
	expect(server.modelRequests[0]?.body).not.toHaveProperty("tools");
});

it("takes the model and the key of the command line, and writes the key nowhere", async () => {
	const { run, server, agentFolder } = await setUpCli({ server: { apiKey: "sk-of-this-run" } });
	server.script(reply({ text: "1" }));
	const result = await run(["-p", "--model", "mock/mock", "--api-key", "sk-of-this-run", "hi"]);
	expect(result).toMatchObject({ code: 0, stdout: "1\n" });
	for (const name of await readdir(agentFolder, { recursive: true, withFileTypes: true })) {
		if (!name.isFile()) continue;
		expect(await readFile(join(name.parentPath, name.name), "utf8")).not.toContain("sk-of-this-run");
	}
});

it("writes one line of JSON for each event, in the order they happen", async () => {
	const { run, server, cwd } = await setUpCli();
	server.script(cell("1 + 1"), reply({ text: "two" }));
	const { stdout, code } = await run(["-p", "--mode", "json", "hi"]);
	expect(code).toBe(0);
	const lines = stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines[0]).toEqual({
		type: "session",
		version: 3,
		id: expect.stringMatching(/^[0-9a-f-]{36}$/),
		timestamp: expect.any(String),
		cwd,
		rlmDepth: 0,
	});
	const steps = lines.map(({ type, message }) => (message ? `${type} ${message.role}` : type));
	expect(steps.filter((step, index) => step !== steps[index - 1])).toEqual([
		"session",
		"agent_start",
		"turn_start",
		"message_start user",
		"message_end user",
		"message_start assistant",
		"message_update",
		"message_end assistant",
		"tool_execution_start",
		...(steps.includes("tool_execution_update") ? ["tool_execution_update"] : []),
		"tool_execution_end",
		"message_start toolResult",
		"message_end toolResult",
		"turn_end assistant",
		"turn_start",
		"message_start assistant",
		"message_update",
		"message_end assistant",
		"turn_end assistant",
		"agent_end",
	]);
	expect(lines.find(({ type }) => type === "tool_execution_end")).toMatchObject({
		toolName: "ipython",
		isError: false,
		result: { details: { status: "ok", kernelRestarted: false } },
	});
});

it.each(["text", "json"])(
	"exits 1 in %s mode when the key is refused, says how to renew it, and shows it nowhere (H01)",
	async (mode) => {
		const { run, server, agentFolder } = await setUpCli();
		const error = { message: "Incorrect API key provided: sk-canary-0123456789" };
		server.script(raw({ status: 401, body: { error } }), raw({ status: 401, body: { error } }));
		const result = await run(["-p", "--mode", mode, "hi"]);
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/(?:^|\n)Error: .*401[\s\S]*\n\nRun \/login to update credentials\. [^\n]*\n$/);
		expect(result.stderr.match(/\/login/g)).toHaveLength(1);
		expect(result.stdout + result.stderr).not.toContain("sk-canary");
		for (const name of await readdir(join(agentFolder, "sessions"))) {
			expect(await readFile(join(agentFolder, "sessions", name), "utf8")).not.toContain("sk-canary");
		}
	},
);

it("keeps warnings, notes and what the kernel says out of what programs read (H05)", async () => {
	const { run, server, agentFolder } = await setUpCli();
	await writeFile(join(agentFolder, "settings.json"), '{"retry":{"baseDelayMs":1},"colour":1}');
	await writeFile(join(agentFolder, "auth.json"), "{}", { mode: 0o644 });
	const busy = raw({ status: 503, body: { error: { message: "busy" } } });
	const loud = cell("import sys; print('out'); print('err', file=sys.stderr)");
	server.script(...[1, 2].flatMap(() => [busy, loud, reply({ text: "quiet" })]));
	const text = await run(["-p", "hi"]);
	expect(text).toMatchObject({ code: 0, stdout: "quiet\n" });
	expect(text.stderr).toMatch(/^Warning: .*"colour" is not known\.\nWarning: .*auth\.json can be read by other users/);
	expect(text.stderr).toContain("Trying again in");
	const json = await run(["-p", "--mode", "json", "hi"]);
	const lines = json.stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines.every(({ type }) => typeof type === "string")).toBe(true);
	expect(json.stderr).toMatch(/^Warning: [^\n]*\nWarning: [^\n]*\n$/);
});

it.each([[[]], [["--mode", "json"]]])("takes an empty pipe for no prompt, and says so (%j, H03)", async (mode) => {
	const { run, server } = await setUpCli();
	for (const input of ["", " \n"]) {
		const { code, stdout, stderr } = await run(["-p", ...mode], { input });
		expect({ code, stdout, stderr }).toEqual({
			code: 1,
			stdout: "",
			stderr: expect.stringContaining("There is no prompt."),
		});
	}
	expect(server.requests).toEqual([]);
});

it("lists the models that have a key and where it comes from, without asking anybody", async () => {
	const { run, server } = await setUpCli();
	const list = await run(["model", "list", "--json"]);
	expect(JSON.parse(list.stdout)).toEqual([
		{
			provider: "mock",
			id: "mock",
			name: "mock",
			contextWindow: 200_000,
			maxTokens: 16_384,
			reasoning: false,
			input: ["text"],
			isDefault: true,
			source: "fallback",
			sourceLabel: "models.json",
		},
	]);
	expect((await run(["model", "list"])).stdout).toMatch(
		/^provider +model .*\nmock +mock +200K +16K +no +no +models\.json +default\n$/,
	);
	expect(server.requests).toHaveLength(0);
});

it("shows what it can do without a key, a setting or a network: facts about the folder, out of real cells", async () => {
	const { run, server, cwd, agentFolder } = await setUpCli({ model: "none" });
	await mkdir(join(cwd, "src"));
	await writeFile(join(cwd, "README.md"), "# The little project\n\nText.\n");
	await writeFile(join(cwd, "src", "a.py"), "one\ntwo\nthree\nfour\n");
	const result = await run(["--demo", "-p", "What is in this folder?"]);
	expect(result.code).toBe(0);
	expect(result.stdout).toContain(`${cwd} holds 2 files in 2 folders.`);
	expect(result.stdout).toContain("Together they have 7 lines of text; the longest is src/a.py with 4.");
	expect(result.stdout).toContain('Its README begins: "The little project"');
	expect(result.stderr).toMatch(/^Demo: a script plays the model/);
	expect(server.requests).toHaveLength(0);
	await expect(stat(join(agentFolder, "sessions"))).rejects.toThrow("ENOENT");
});
