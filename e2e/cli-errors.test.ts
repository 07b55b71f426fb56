import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply, runProcess } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { setUpCli } from "./cli-harness.ts";

it.each([
	[["kernle"], 'Unknown command "kernle". Did you mean "kernel"?'],
	[["help", "bogus"], 'Unknown command "bogus".'],
	[["hi"], 'Unknown command "hi".'],
	[["status"], 'The command "status" is not there yet.'],
	[["--daemon-socket", "X", "list"], "Unknown option: --daemon-socket."],
	[["--bogus"], "Unknown option: --bogus."],
	[["--bogus", "-p", "hi"], "Unknown option: --bogus."],
	[["--mode", "bogus"], 'Unknown mode "bogus" for --mode: use text, json.'],
	[["--mode", "bogus", "-p", "hi"], 'Unknown mode "bogus" for --mode: use text, json.'],
	[["-p", "--tools", "nope"], 'There is no tool "nope". Known tools: ipython.'],
	[["-p", "--tools", "nope", "hi"], 'There is no tool "nope". Known tools: ipython.'],
	[["-p", "--thinking", "bogus", "hi"], 'Unknown level "bogus" for --thinking'],
	[["-p", "--help me"], 'A prompt that begins with - goes behind "--": prime-agent -p -- "<prompt>".'],
	[["-p", "-r", "../.prime/agent/models.json", "hi"], "models.json is there, but it is no session: "],
	[["-p"], "There is no prompt."],
	[["--mode", "json"], "There is no prompt."],
	[["-p", "--session-dir"], "Option --session-dir needs a value: --session-dir <dir>."],
	[["--resume", "nope"], "No session found matching 'nope'."],
	[["-p", "--resume", "nope", "hi"], "No session found matching 'nope'."],
	[["-p", "--continue", "hi"], "There is no session of "],
	[
		["-p", "--model", "nope/none", "hi"],
		'Model "nope/none" not found. Use "prime-agent model list" to see available models.',
	],
	[["-p", "--provider", "openai", "hi"], "No API key found for openai."],
	[["-p", "--api-key", "k", "hi"], "--api-key requires a model to be specified"],
	[["-p", "--cwd", "gone", "hi"], "gone is not a folder (--cwd)."],
	[["-p", "@gone", "hi"], "does not exist."],
	[["-p", "/gaol Ship it"], 'Unknown command "/gaol". Did you mean "/goal"? Known commands: '],
	[["-p", "/nope", "x"], 'Unknown command "/nope". Known commands: /'],
	[[], "The interactive mode is not there yet. Run a prompt with -p: prime-agent -p"],
	[["do this for me"], "The interactive mode is not there yet."],
	[["/login"], "The interactive mode is not there yet."],
])("fails for %j with what to do, and asks no model", async (argv, message) => {
	const { run, server } = await setUpCli();
	const result = await run(argv);
	expect(result).toMatchObject({ code: 1, stdout: "" });
	expect(result.stderr).toContain(`Error: `);
	expect(result.stderr).toContain(message);
	expect(server.requests).toHaveLength(0);
});

it.each([["--version"], ["--help"], ["help"], ["model", "list", "--help"]])(
	"answers %s %s %s on stdout and touches nothing",
	async (...argv) => {
		const { run, home, server } = await setUpCli({ model: "none" });
		const before = await readdir(home.path, { recursive: true });
		const result = await run(argv);
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(result.stdout).toMatch(argv[0] === "--version" ? /^\d+\.\d+\.\d+\n$/ : /^Usage: prime-agent /);
		expect(await readdir(home.path, { recursive: true })).toEqual(before);
		expect(server.requests).toHaveLength(0);
	},
);

it("says what to do when there is no model at all, and leaves no trace", async () => {
	const { run, home, agentFolder } = await setUpCli({ model: "none" });
	const before = await readdir(home.path, { recursive: true });
	const result = await run(["-p", "hi"]);
	expect(result).toMatchObject({ code: 1, stdout: "" });
	expect(result.stderr).toMatch(/^Error: No models available\. Set an API key .* ANTHROPIC_API_KEY/);
	for (const file of ["auth.json", "models.json"]) expect(result.stderr).toContain(join(agentFolder, file));
	expect(await readdir(home.path, { recursive: true })).toEqual(before);
});

it("takes a prompt that begins with a path for a prompt", async () => {
	const { run, server } = await setUpCli();
	server.script(reply({ text: "a table" }));
	expect(await run(["-p", "/etc/hosts is what?"])).toMatchObject({ code: 0, stdout: "a table\n" });
});

it("says in its own words alone that a stream was broken", async () => {
	const { run, agentFolder, server } = await setUpCli();
	await writeFile(join(agentFolder, "settings.json"), JSON.stringify({ retry: { enabled: false } }));
	const headers = { "content-type": "text/event-stream" };
	server.script(raw({ status: 200, headers, body: "data: {broken\n\n" }));
	const result = await run(["-p", "hi"]);
	expect(result.code).toBe(1);
	expect(result.stderr).toMatch(/^Error: [^\n]+\n$/);
});

it("reports broken files on stderr, keeps them, and works all the same", async () => {
	const { run, agentFolder, server } = await setUpCli();
	server.script(reply({ text: "fine" }));
	await writeFile(join(agentFolder, "settings.json"), "{ broken");
	await writeFile(join(agentFolder, "auth.json"), "{ broken", { mode: 0o600 });
	const result = await run(["-p", "hi"]);
	expect(result).toMatchObject({ code: 0, stdout: "fine\n" });
	expect(result.stderr).toBe(
		`Warning: ${agentFolder}/settings.json is not used: it is not valid JSON (line 1, column 3). The file is kept as it is.\n` +
			`Warning: ${agentFolder}/auth.json is not used: it is not valid JSON (line 1, column 3).\n`,
	);
});

it("tells of a provider in auth.json whose name is nearly that of another", async () => {
	const { run, agentFolder, server } = await setUpCli();
	server.script(reply({ text: "fine" }));
	const key = { type: "api_key", key: "k" };
	const auth = JSON.stringify({ antropic: key, serper: key, mock: key });
	await writeFile(join(agentFolder, "auth.json"), auth, { mode: 0o600 });
	expect(await run(["-p", "hi"])).toMatchObject({
		code: 0,
		stderr: 'Warning: auth.json: there is no provider "antropic". Did you mean "anthropic"?\n',
	});
});

it("says that models.json is broken also when nothing else can be used", async () => {
	const { run, agentFolder } = await setUpCli();
	await writeFile(join(agentFolder, "models.json"), "{ broken");
	const result = await run(["-p", "hi"]);
	expect(result.code).toBe(1);
	expect(result.stderr).toMatch(
		/^Warning: .*models\.json is not used: it is not valid JSON \(line \d+, column \d+\)\.\nError: No models available\./,
	);
});

it("names a provider of models.json that lists no models, and the settings that ask for a model which is not there", async () => {
	const { run, agentFolder, server } = await setUpCli();
	const file = join(agentFolder, "models.json");
	await writeFile(file, (await readFile(file, "utf8")).replace('"models":[', '"modelOverrides":{},"modells":['));
	await writeFile(join(agentFolder, "settings.json"), JSON.stringify({ defaultModel: "gone" }));
	const { code, stderr } = await run(["-p", "hi"]);
	expect(code).toBe(1);
	expect(stderr).toContain(
		`Warning: ${file}: provider "mock" is not used: it is not built in, so its entry needs "models".`,
	);
	expect(stderr).toMatch(/\nError: Model "gone" not found\. .* settings\.json asks for it with "defaultModel"\.\n$/);
	expect(server.requests).toEqual([]);
});

it("names the server that is not running in its last error alone", async () => {
	const { run, agentFolder, server } = await setUpCli();
	await writeFile(join(agentFolder, "settings.json"), JSON.stringify({ retry: { baseDelayMs: 1, maxRetries: 2 } }));
	await server.close();
	const { code, stderr } = await run(["-p", "hi"]);
	expect(code).toBe(1);
	expect(stderr).toMatch(/\nIs the server of provider mock running\? Its address comes from models\.json\.\n$/);
	expect(stderr.match(/Trying again/g)).toHaveLength(2);
	expect(stderr.match(/running\?/g)).toHaveLength(1);
});

it("refuses a provider with an api that there is none of, without a request", async () => {
	const { run, agentFolder, server } = await setUpCli();
	const file = join(agentFolder, "models.json");
	await writeFile(file, (await readFile(file, "utf8")).replace("openai-completions", "openai"));
	const { code, stderr } = await run(["-p", "--model", "mock/mock", "hi"]);
	expect(code).toBe(1);
	expect(stderr).toMatch(/^Warning: .*provider "mock" is not used: there is no "api" "openai"; use one of .*\nError: /);
	expect(server.requests).toEqual([]);
});

it("does not pass on to cells what it tells its libraries by variables", async () => {
	const { run, server } = await setUpCli();
	const code = "import os; print('log:', os.environ.get('OPENAI_LOG'))";
	server.script(reply({ calls: [{ name: "ipython", arguments: { code } }] }), reply({ text: "done" }));
	expect(await run(["-p", "hi"])).toMatchObject({ code: 0, stdout: "done\n" });
	expect(server.modelRequests.at(-1)!.raw).toContain("log: None");
});

it("a folder that somebody removed is told in words, and help does not need it", async () => {
	const cli = await setUpCli();
	const run = (words: string) => {
		const program = `"${process.execPath}" "${join(import.meta.dirname, "../packages/prime-agent/src/main.ts")}"`;
		const script = `mkdir gone && cd gone && rmdir ../gone && ${program} ${words}`;
		return runProcess("/bin/sh", ["-c", script], { cwd: cli.cwd, env: cli.home.env, timeoutMs: 60_000 });
	};
	expect(await run("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage: prime-agent") });
	expect(await run("-p hi")).toMatchObject({
		code: 1,
		stderr: "Error: The current folder does not exist any more. Change into another one.\n",
	});
	expect(cli.server.requests).toEqual([]);
});
