import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply } from "@prime-agent/testkit";
import { expect, it, vi } from "vitest";
import { type CliHarness, setUpCli } from "./cli-harness.ts";

/** Several processes one after the other: a hang guard, no limit. */
vi.setConfig({ testTimeout: 240_000 });

/** A cell with about 5,000 tokens of output, and what the server says that the request came to. */
const longCell = (name: string, input: number) =>
	reply({
		calls: [{ name: "ipython", arguments: { code: `print(${JSON.stringify(name)} * 3000)` } }],
		usage: { input },
	});

/** The program with a model of a small window and instructions in its folder. */
async function setUpSmall(): Promise<CliHarness> {
	const cli = await setUpCli({ model: "none" });
	await mkdir(cli.agentFolder, { recursive: true, mode: 0o700 });
	const models = [{ id: "mock", contextWindow: 20_000, maxTokens: 1_000 }];
	const provider = { baseUrl: cli.server.baseUrl, api: "openai-completions", apiKey: "k", models };
	await writeFile(join(cli.agentFolder, "models.json"), JSON.stringify({ providers: { mock: provider } }));
	await writeFile(join(cli.agentFolder, "settings.json"), '{"retry":{"baseDelayMs":1}}');
	await writeFile(join(cli.cwd, "AGENTS.md"), "Always say please.");
	return cli;
}

async function readEntries(cli: CliHarness) {
	const folder = join(cli.agentFolder, "sessions");
	const [name] = await readdir(folder);
	const lines = (await readFile(join(folder, name!), "utf8")).trimEnd().split("\n");
	return lines.map((line) => JSON.parse(line));
}

it.each(["text", "json"])(
	"goes on to the end of a run that was compacted on the way, in %s mode, and later (C05, C09)",
	async (mode) => {
		const cli = await setUpSmall();
		cli.server.script(
			longCell("one ", 2_000),
			longCell("two ", 8_000),
			longCell("three ", 16_000),
			reply({ text: "They printed one and two." }),
			reply({ text: "All three are printed.", usage: { input: 16_500 } }),
		);
		const first = await cli.run(["-p", "--mode", mode, "print three things"]);
		expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("All three are printed.") });
		const [, , , summary, after] = cli.server.modelRequests;
		expect(summary!.body).not.toHaveProperty("tools");
		expect(after!.body.messages[0].content).toContain("Always say please.");
		expect(JSON.stringify(after!.body.messages)).toContain("They printed one and two.");
		expect(after!.raw).not.toContain("one one");
		expect(after!.raw).toContain("three three");
		const compactions = () => readEntries(cli).then((entries) => entries.filter(({ type }) => type === "compaction"));
		expect(await compactions()).toMatchObject([{ summary: expect.stringContaining("They printed one and two.") }]);

		cli.server.script(reply({ text: "Yes.", usage: { input: 9_000 } }));
		expect(await cli.run(["-p", "--continue", "sure?"])).toMatchObject({ code: 0, stdout: "Yes.\n" });
		expect(await compactions()).toHaveLength(1);
		expect(JSON.stringify(cli.server.modelRequests.at(-1)!.body.messages)).toContain("They printed one and two.");
		expect(cli.server.rejections).toEqual([]);
	},
);

it("compacts once and asks again when the server finds a request too long, whatever its words (C03, P21)", async () => {
	const cli = await setUpSmall();
	const tooLong = raw({ status: 400, body: { error: { message: "Your prompt bursts my buffers." } } });
	await writeFile(
		join(cli.agentFolder, "settings.json"),
		JSON.stringify({ retry: { baseDelayMs: 1 }, compaction: { overflowPatterns: ["bursts my buffers"] } }),
	);
	cli.server.script(
		longCell("one ", 100),
		longCell("two ", 100),
		longCell("three ", 100),
		tooLong,
		reply({ text: "It printed." }),
		reply({ text: "Done." }),
	);
	expect(await cli.run(["-p", "print three things"])).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(cli.server.modelRequests).toHaveLength(6);

	cli.server.script(tooLong, reply({ text: "It printed more." }), tooLong);
	const hopeless = await cli.run(["-p", "--continue", "again"]);
	expect(hopeless.code).toBe(1);
	expect(hopeless.stderr).toContain("bursts my buffers");
	cli.server.script(reply({ text: "Well." }));
	expect(await cli.run(["-p", "--continue", "so?"])).toMatchObject({ code: 0, stdout: "Well.\n" });
	expect(cli.server.rejections).toEqual([]);
	expect(cli.server.remaining).toBe(0);
});
