import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reply } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { type CliHarness, setUpCli } from "./cli-harness.ts";

const KEY = "sk-canary-0123456789";

/** Loads a script into the program before it starts. */
async function preload({ home }: CliHarness, script: string): Promise<Record<string, string>> {
	const file = join(home.path, "preload.mjs");
	await writeFile(file, script);
	return { NODE_OPTIONS: `--import=${file}` };
}

const logOf = ({ agentFolder }: CliHarness) => join(agentFolder, "logs", "agent.jsonl");

async function readLog(cli: CliHarness) {
	const text = await readFile(logOf(cli), "utf8");
	return text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Fails inside of the program as soon as it sends a request. */
const FAULT = (fault: string) => `
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
const { request } = http;
http.request = (...asked) => {
	setTimeout(() => { ${fault} }, 0);
	return request(...asked);
};
syncBuiltinESMExports();`;

it.each([
	["uncaught exception", `throw new TypeError("it broke at ${KEY}");`],
	["unhandled rejection", `Promise.reject(new TypeError("it broke at ${KEY}"));`],
])("writes down an %s without the key, and says where", async (during, fault) => {
	const cli = await setUpCli();
	cli.server.script(reply({ text: "never seen", silence: "before-headers" }));
	const result = await cli.run(["-p", "go"], { env: await preload(cli, FAULT(fault)) });
	expect(result.code).toBe(1);
	expect(result.stderr).toContain("Error: This is a mistake in prime-agent: it broke at");
	expect(result.stderr).toContain(`The details are in ${logOf(cli)}.`);
	const lines = await readLog(cli);
	expect(lines).toMatchObject([{ level: "error", event: "fault", during, error: { name: "TypeError" } }]);
	expect(JSON.stringify(lines)).not.toContain(KEY);
	expect((await stat(logOf(cli))).mode & 0o777).toBe(0o600);
	expect((await stat(join(cli.agentFolder, "logs"))).mode & 0o777).toBe(0o700);
});

it("writes down what a run failed of inside of the session, and says where", async () => {
	const cli = await setUpCli();
	const notAFolder = join(cli.home.path, "file");
	await writeFile(notAFolder, "");
	const result = await cli.run(["-p", "--session-dir", notAFolder, "go"]);
	expect(result.code).toBe(1);
	expect(result.stderr).toContain(`The details are in ${logOf(cli)}.`);
	expect(await readLog(cli)).toMatchObject([{ level: "error", event: "fault", during: "session: run" }]);
});

it.each([
	[["-p", "go"], 0],
	[["-p", "--model", "nope/none", "go"], 1],
	[["-p", "/nope"], 1],
	[["--bogus"], 1],
	[["-p", "--resume", "nope", "go"], 1],
	[["--help"], 0],
	[["--version"], 0],
	[["model", "list"], 0],
])("makes no log for %j", async (argv, code) => {
	const cli = await setUpCli();
	cli.server.script(reply({ text: "fine" }));
	expect(await cli.run(argv)).toMatchObject({ code });
	expect(await readdir(cli.agentFolder)).not.toContain("logs");
});

it.each([["1"], [undefined]])(
	"with PRIME_AGENT_DEBUG=%s, ignored failures are written down only then",
	async (debug) => {
		const cli = await setUpCli();
		const key = "a-key-of-no-known-shape";
		const models = join(cli.agentFolder, "models.json");
		await writeFile(models, (await readFile(models, "utf8")).replace(KEY, key));
		cli.server.script(reply({ text: "fine" }));
		// The kernel is started before anybody needs it, and cannot be.
		const env = {
			PRIME_AGENT_KERNEL_PYTHON: `/gone/${key}`,
			...(debug === undefined ? {} : { PRIME_AGENT_DEBUG: debug }),
		};
		expect(await cli.run(["-p", "go"], { env })).toMatchObject({ code: 0, stdout: "fine\n" });
		const text = await readFile(logOf(cli), "utf8").catch(() => "");
		expect(text).not.toContain(key);
		expect(text.includes('"event":"ignored"')).toBe(debug !== undefined);
	},
);
