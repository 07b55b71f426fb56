import { reply } from "@prime-agent/testkit";
import { expect, it, vi } from "vitest";
import { FORMATS, type Format, type FormatsHarness, PRICES, setUpFormats } from "./formats-harness.ts";

/** Many processes one after the other: a hang guard, no limit. */
vi.setConfig({ testTimeout: 240_000 });

/** The smallest PNG that there is: one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SHOW_PNG = `import base64
class Picture:
    def __repr__(self): return "a picture"
    def _repr_png_(self): return base64.b64decode("${PNG}")
Picture()`;

const call = (code: string, id?: string) => ({
	name: "ipython",
	arguments: { code },
	...(id === undefined ? {} : { id }),
});

/** How each format words that its model will not answer. */
const REFUSED: Readonly<Record<Format, RegExp>> = {
	chat: /^Error: The provider's filter stopped the reply \(.*content_filter\); rephrase the request\.\n$/,
	anthropic: /^Error: The model refused to answer \(.*\); rephrase the request\.\n$/,
	responses: /^Error: The model refused to answer \(.*I can't help with that\.\); rephrase the request\.\n$/,
	gemini: /^Error: The provider's filter stopped the reply \(.*SAFETY\); rephrase the request\.\n$/,
};

/** Where the four formats put things: bodies are read as text. */
const textOf = (request: { raw: string } | undefined) => request?.raw ?? "";

/** What each request of the first prompt costs, cached and reasoning tokens within. */
const USAGE = { input: 1000, output: 300, cacheRead: 600, reasoning: 200 };
const COST = (400 * PRICES.input + 600 * PRICES.cacheRead + 300 * PRICES.output) / 1e6;

it.each(FORMATS)("works through three rounds of cells in %s, outlives a refusal, and hands over", async (format) => {
	const cli = await setUpFormats();
	const server = cli.servers[format];
	const other = FORMATS[(FORMATS.indexOf(format) + 1) % FORMATS.length]!;
	server.script(
		reply({ thinking: "考える 😀", text: "I set a variable.", calls: [call("x = 41")], usage: USAGE }),
		reply({
			thinking: "three at once",
			calls: [call("print(x + 1)"), call("%%bash\necho from a script"), call(SHOW_PNG)],
			interleave: true,
			lateIds: true,
			usage: USAGE,
		}),
		reply({
			thinking: "now fail",
			text: "It will fail.",
			calls: [call("raise ValueError('wrong')", ""), call("print('after ' + 'it')", "")],
			usage: USAGE,
		}),
		reply({ thinking: "done", text: "The answer is 42.", usage: USAGE }),
	);
	expect(await cli.run(["-p", "--model", cli.modelOf(format), "compute it"])).toMatchObject({
		code: 0,
		stdout: "The answer is 42.\n",
		stderr: "",
	});
	const [, , afterParallel, afterError] = server.modelRequests;
	for (const text of ["42", "from a script", PNG]) expect(textOf(afterParallel)).toContain(text);
	for (const text of ["ValueError: wrong", "after it"]) expect(textOf(afterError)).toContain(text);
	const { input: _input, ...counted } = { ...USAGE, totalTokens: 1300 };
	expect(await repliesOf(cli)).toEqual(
		Array.from({ length: 4 }, () =>
			expect.objectContaining({
				...{ input: 400, ...counted },
				cost: expect.objectContaining({ total: expect.closeTo(COST, 9) }),
			}),
		),
	);

	server.script(reply({ text: "I cannot", finish: "refusal" }), reply({ text: "Still 42." }));
	const refused = await cli.run(["-p", "--continue", "do harm"]);
	expect(refused.code).toBe(1);
	expect(refused.stderr).toMatch(REFUSED[format]);
	expect(await cli.run(["-p", "--continue", "and now?"])).toMatchObject({ code: 0, stdout: "Still 42.\n" });
	cli.expectPrefixes(format);

	cli.servers[other].script(reply({ text: "Taken over." }));
	const handed = await cli.run(["-p", "--continue", "--model", cli.modelOf(other), "go on"]);
	expect(handed).toMatchObject({ code: 0, stdout: "Taken over.\n" });
	const [taken] = cli.servers[other].modelRequests;
	for (const text of ["compute it", "I set a variable.", "ValueError: wrong", "Still 42.", PNG]) {
		expect(textOf(taken)).toContain(text);
	}
	cli.expectAccepted();
});

/** What the replies in the session file say that they used. */
async function repliesOf(cli: FormatsHarness): Promise<unknown[]> {
	const messages = (await cli.readEntries()).map(
		(entry) => entry.message as { role?: string; usage?: object } | undefined,
	);
	return messages.filter((message) => message?.role === "assistant").map((message) => message?.usage);
}

/** Every ordered pair of formats once, in one walk. */
const WALK: readonly Format[] = [
	...["chat", "anthropic", "chat", "responses", "chat", "gemini", "anthropic"],
	...["responses", "anthropic", "gemini", "responses", "gemini", "chat"],
] as Format[];

it("changes between all pairs of formats in one session, with thinking, parallel calls and characters cut in two (P01, P19)", async () => {
	const pairs = new Set(WALK.slice(1).map((format, index) => `${WALK[index]} ${format}`));
	expect(pairs.size).toBe(12);
	const cli = await setUpFormats();
	for (const [index, format] of WALK.entries()) {
		cli.servers[format].script(
			reply({
				thinking: `think ${index}`,
				text: `said ${index} 日本 é 😀`,
				calls: [call(`a = "漢字 👩‍👩‍👧 ${index}"`), call("print(a[:2])")],
				split: "byte",
			}),
			reply({ thinking: `again ${index}`, text: `answer ${index} グ` }),
		);
		const resume = index === 0 ? [] : ["--continue"];
		const result = await cli.run(["-p", ...resume, "--model", cli.modelOf(format), `prompt ${index}`]);
		expect(result).toMatchObject({ code: 0, stdout: `answer ${index} グ\n` });
	}
	cli.expectAccepted();
	const last = textOf(cli.servers.chat.modelRequests.at(-1));
	for (const index of WALK.keys()) {
		expect(last).toContain(`prompt ${index}`);
		expect(last).toContain(`said ${index} 日本 é 😀`);
		expect(last).toContain(`漢字 👩‍👩‍👧 ${index}`);
	}
	for (const format of FORMATS) cli.expectPrefixes(format);
});
