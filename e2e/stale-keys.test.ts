import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { type CliHarness, setUpCli } from "./cli-harness.ts";

const KEY = "sk-canary-0123456789";
const GUIDANCE = "Run /login to update credentials.";
const refused = raw({ status: 401, body: { error: { message: "Incorrect API key provided." } } });

async function runJson({ run }: CliHarness, settings?: () => Promise<void>) {
	await settings?.();
	const result = await run(["-p", "--mode", "json", "go"]);
	const lines = result.stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
	return { ...result, lines, types: lines.map(({ type }) => type) };
}

const retrySettings = (cli: CliHarness, retry: object) => () =>
	writeFile(join(cli.agentFolder, "settings.json"), JSON.stringify({ retry }));

it("tries a refused key once more, then takes it out of use and says so in its JSON lines without the key", async () => {
	const cli = await setUpCli();
	cli.server.script(refused, refused, reply({ text: "too late" }));
	const { code, lines, stdout, stderr } = await runJson(cli, retrySettings(cli, { baseDelayMs: 1 }));
	expect({ code, requests: cli.server.modelRequests.length }).toEqual({ code: 1, requests: 2 });
	const fingerprint = expect.stringMatching(/^[0-9a-f]{16}$/);
	expect(lines.filter(({ type }) => type === "auth_stale")).toEqual([
		{
			type: "auth_stale",
			provider: "mock",
			sourceTokens: [{ source: "fallback", identityFingerprint: fingerprint, valueFingerprint: fingerprint }],
		},
	]);
	expect(lines.filter(({ type }) => type === "auto_retry_start")).toHaveLength(1);
	expect(`${stdout}${stderr}`).not.toContain(KEY);
});

it("says once how to go on, and writes no log for a refused key", async () => {
	const cli = await setUpCli();
	cli.server.script(refused, refused);
	await retrySettings(cli, { baseDelayMs: 1 })();
	const { stderr } = await cli.run(["-p", "go"]);
	expect(stderr.split(GUIDANCE)).toHaveLength(2);
	expect(await readdir(cli.agentFolder)).not.toContain("logs");
});

it("sends one request with retries switched off, and takes the key out of use all the same", async () => {
	const cli = await setUpCli();
	cli.server.script(refused, reply({ text: "too late" }));
	const { types } = await runJson(cli, retrySettings(cli, { enabled: false }));
	expect(cli.server.modelRequests).toHaveLength(1);
	expect(types).not.toContain("auto_retry_start");
	expect(types).toContain("auth_stale");
});

it("takes a refused key out of use also when the last failure is another one", async () => {
	const cli = await setUpCli();
	cli.server.script(refused, raw({ status: 400, body: { error: { message: "no such parameter" } } }));
	const { types } = await runJson(cli, retrySettings(cli, { baseDelayMs: 1 }));
	expect(types).toContain("auth_stale");
});

it("keeps every key in use when the server only fails", async () => {
	const cli = await setUpCli();
	const broken = raw({ status: 500, body: { error: { message: "boom" } } });
	cli.server.script(broken, broken);
	const { types } = await runJson(cli, retrySettings(cli, { baseDelayMs: 1, maxRetries: 1 }));
	expect(types).not.toContain("auth_stale");
});

it("takes the key that was put in place of the refused one before the next request", async () => {
	const cli = await setUpCli();
	const models = join(cli.agentFolder, "models.json");
	const text = (await readFile(models, "utf8")).replace(KEY, "!echo x >> ~/n; wc -l < ~/n");
	await writeFile(models, text);
	cli.server.script(refused, reply({ text: "fine" }));
	await retrySettings(cli, { baseDelayMs: 1 })();
	expect(await cli.run(["-p", "go"])).toMatchObject({ code: 0, stdout: "fine\n" });
	expect(cli.server.modelRequests.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
});

it("uses a key of auth.json that was renewed between the refusal and the retry", async () => {
	const cli = await setUpCli();
	const auth = join(cli.agentFolder, "auth.json");
	const store = (key: string) => writeFile(auth, JSON.stringify({ mock: { type: "api_key", key } }), { mode: 0o600 });
	await store("old-key");
	cli.server.script(refused, reply({ text: "fine" }));
	await retrySettings(cli, { baseDelayMs: 4_000 })();
	const live = cli.start(["-p", "--mode", "json", "go"], { input: "" });
	await live.waitForOutput(/auto_retry_start/);
	await store("new-key");
	expect(await live.done).toMatchObject({ code: 0 });
	expect(cli.server.modelRequests.at(-1)!.headers.authorization).toBe("Bearer new-key");
});

it("knows a bare 401 without a body for a refusal, and names the key of the command line as its source", async () => {
	const cli = await setUpCli();
	cli.server.script(raw({ status: 401 }));
	await retrySettings(cli, { enabled: false })();
	const argv = ["-p", "--mode", "json", "--model", "mock/mock", "--api-key", "a-key-of-no-known-shape", "go"];
	const { stdout, stderr } = await cli.run(argv);
	expect(stdout).toContain('{"type":"auth_stale","provider":"mock","sourceTokens":[{"source":"runtime",');
	expect(`${stdout}${stderr}`).not.toContain("a-key-of-no-known-shape");
});

it("takes a refused key out of use also when the wait for the retry is cancelled", async () => {
	const cli = await setUpCli();
	cli.server.script(refused, reply({ text: "too late" }));
	await retrySettings(cli, { baseDelayMs: 3_600_000 })();
	const live = cli.start(["-p", "--mode", "json", "go"], { input: "" });
	await live.waitForOutput(/auto_retry_start/);
	live.kill("SIGINT");
	const { code, stdout } = await live.done;
	expect({ code, requests: cli.server.modelRequests.length }).toEqual({ code: 1, requests: 1 });
	expect(stdout).toMatch(/"auto_retry_end".*"finalError":"Retry cancelled"/);
	expect(stdout).toContain('"type":"auth_stale"');
});
