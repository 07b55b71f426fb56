import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply, type Step } from "@prime-agent/testkit";
import { expect, it, vi } from "vitest";
import { FORMATS, type Format, type FormatsHarness, setUpFormats } from "./formats-harness.ts";

/** Many processes one after the other: a hang guard, no limit. */
vi.setConfig({ testTimeout: 240_000 });

/** A call that leaves a line in the file `ran` of the working folder. */
const MARK = { name: "ipython", arguments: { code: "open('ran', 'a').write('x')" } };

/** An odd answer, and what has to come of it. */
interface Fault {
	readonly step: Step;
	readonly stderr: RegExp;
	/** Text of the broken reply that the next request has. */
	readonly kept?: string;
	/** Text that it has not. */
	readonly dropped?: string;
}

/** Streams that break off, in every wire format. */
const BROKEN: readonly Fault[] = [
	{
		step: reply({ text: "Half an answer that goes on and on and on", end: "disconnect-after-8-events", chunk: 4 }),
		stderr: /^Error: .*(?:broke off|ended) before the reply was complete/,
		kept: "Half",
	},
	{
		step: reply({ thinking: "unsigned secret thought", end: "disconnect-after-6-events", chunk: 4 }),
		stderr: /^Error: .*before the reply was complete/,
		dropped: "unsigned",
	},
	{
		step: reply({
			text: "Begun.",
			errorInStream: { type: "overloaded_error", code: "overloaded", message: "We are full." },
		}),
		stderr: /^Error: .*We are full\./,
		kept: "Begun.",
	},
];

/** A call of which everything is there but the end of the reply. */
const CALL_WITHOUT_END = reply({ text: "I start.", calls: [MARK], end: "cut" });

const STRANGE: readonly Fault[] = [
	{
		step: raw({ status: 200, body: { error: { message: "The gateway has no model." } } }),
		stderr: /^Error: .*JSON instead of a stream: The gateway has no model\./,
	},
	{ step: reply({}), stderr: /^Error: The model's reply was empty/ },
	{
		step: reply({ text: "Whole text, no end.", end: "cut" }),
		stderr: /^Error: .*before the reply was complete/,
		kept: "no end.",
	},
	{
		step: CALL_WITHOUT_END,
		stderr: /^Error: .*before the reply was complete/,
		kept: "I start.",
		dropped: "open('ran'",
	},
];

/** Answers after which asking again is no use, or not allowed. */
const PERMANENT: readonly Fault[] = [
	{
		step: raw({ status: 402, body: { error: { message: "Payment required." } } }),
		stderr: /^Error: 402 Payment required\./,
	},
	{
		step: raw({ status: 400, body: { error: { message: "Your credit balance is too low to use this model." } } }),
		stderr: /^Error: 400 Your credit balance is too low/,
	},
	{
		step: raw({
			status: 403,
			body: { error: { code: "insufficient_quota", message: "You exceeded your current quota." } },
		}),
		stderr: /^Error: 403 You exceeded your current quota/,
	},
	{
		step: raw({ status: 429, headers: { "retry-after": "999999" }, body: { error: { message: "Slow down." } } }),
		stderr: /asks to wait 999999 s.*\nError: 429 Slow down\./,
	},
	{ step: reply({ thinking: "I must not", finish: "refusal" }), stderr: /^Error: .*filter/, dropped: "I must not" },
];

const ran = (cli: FormatsHarness) => readFile(join(cli.cwd, "ran"), "utf8").catch(() => "");

/** The lines of the JSON mode; fails where one is none. */
const readLines = (stdout: string) =>
	stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));

/** Prompts one session through all faults: each next request shows what became of the reply before it. */
async function runFaults(format: Format, mode: "text" | "json", faults: readonly Fault[], settings?: object) {
	const cli = await setUpFormats(settings ? { settings } : {});
	const server = cli.servers[format];
	for (const [index, fault] of faults.entries()) {
		server.script(fault.step);
		const resume = index === 0 ? [] : ["--continue"];
		const argv = ["-p", "--mode", mode, ...resume, "--model", cli.modelOf(format), `prompt ${index}`];
		const { code, stderr, stdout } = await cli.run(argv);
		expect({ index, code, stderr }).toEqual({ index, code: 1, stderr: expect.stringMatching(fault.stderr) });
		if (mode === "json") expect(readLines(stdout).at(-1)).toMatchObject({ type: "agent_end" });
		else expect(stdout).toBe("");
		expect(server.modelRequests).toHaveLength(index + 1);
	}
	server.script(reply({ text: "All right." }));
	expect(await cli.run(["-p", "--continue", "last"])).toMatchObject({ code: 0, stdout: "All right.\n" });
	for (const [index, { kept, dropped }] of faults.entries()) {
		const next = server.modelRequests[index + 1]!.raw;
		expect(next).toContain(`prompt ${index}`);
		if (kept !== undefined) expect(next).toContain(kept);
		if (dropped !== undefined) expect(next).not.toContain(dropped);
	}
	cli.expectAccepted();
	cli.expectPrefixes(format);
	expect(await ran(cli)).toBe("");
}

const NO_RETRY = { retry: { enabled: false } };

it.each([
	["chat", "text", [...BROKEN, ...STRANGE]],
	["anthropic", "json", BROKEN],
	["responses", "text", BROKEN],
	["gemini", "json", BROKEN],
] as const)(
	"takes no broken stream of %s for an answer in %s mode, keeps what was said and runs no call (P05, P13)",
	async (format, mode, faults) => {
		await runFaults(format, mode, faults, NO_RETRY);
	},
);

it("asks once, not again, where the server's answer will not change or is too far away (P15, P23, P27)", async () => {
	await runFaults("chat", "text", PERMANENT);
});

it("runs no call whose arguments were cut, and one whose end came twice only once (P09, P11)", async () => {
	const cli = await setUpFormats();
	const { chat } = cli.servers;
	const cut = { ...MARK, arguments: JSON.stringify(MARK.arguments).slice(0, -3) };
	chat.script(
		reply({ text: "one", calls: [cut], finish: "tools" }),
		reply({ text: "two", calls: [cut], finish: "length" }),
		reply({ text: "three", calls: [MARK], finish: "length" }),
		reply({ text: "four", calls: [MARK], duplicateFinish: true }),
		reply({ text: "Once.", duplicateFinish: true }),
	);
	const result = await cli.run(["-p", "--model", cli.modelOf("chat"), "mark it"]);
	expect(result).toMatchObject({ code: 0, stdout: "Once.\n" });
	expect(await ran(cli)).toBe("x");
	for (const request of chat.modelRequests.slice(1, 4)) {
		expect(request.body.messages.at(-1)).toMatchObject({
			role: "tool",
			content: expect.stringContaining("was not run"),
		});
	}
	cli.expectAccepted();
	cli.expectPrefixes("chat");
});

it("asks again as the server wishes, shows no text twice and runs each cell once (P13, P15)", async () => {
	const cli = await setUpFormats({ settings: { retry: { baseDelayMs: 1, maxRetries: 6 } } });
	const { chat } = cli.servers;
	const busy = (status: number, headers: Record<string, string> = {}) =>
		raw({ status, headers, body: { error: { message: "busy" } } });
	chat.script(
		busy(429, { "retry-after-ms": "7" }),
		busy(529, { "retry-after": "0" }),
		busy(503, { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }),
		busy(500),
		raw({ status: 200, body: { error: { message: "overloaded" } } }),
		CALL_WITHOUT_END,
		reply({ text: "I start.", calls: [MARK] }),
		busy(502),
		reply({ text: "Done." }),
	);
	const { code, stdout } = await cli.run(["-p", "--mode", "json", "--model", cli.modelOf("chat"), "mark it"]);
	expect(code).toBe(0);
	const lines = readLines(stdout);
	const delays = lines.filter(({ type }) => type === "auto_retry_start").map(({ delayMs }) => delayMs);
	expect(delays).toEqual([7, 0, 0, 8, 16, 32, 1]);
	const ends = lines.filter(({ type }) => type === "auto_retry_end").map(({ success }) => success);
	expect(ends).toEqual([true, true]);
	const replies = lines.filter(({ type, message }) => type === "message_end" && message.role === "assistant");
	expect(replies.map(({ message }) => message.stopReason)).toEqual([
		...Array.from({ length: 6 }, () => "error"),
		...["toolUse", "error", "stop"],
	]);
	expect(lines.filter(({ type }) => type === "tool_execution_start")).toHaveLength(1);
	expect(await ran(cli)).toBe("x");
	expect(chat.modelRequests.at(-1)!.raw.match(/I start\./g)).toHaveLength(1);
	cli.expectAccepted();
});

it("leaves servers that fall silent, says so, and keeps what they had said (P03, P25)", async () => {
	const limits = { retry: { enabled: false, provider: { timeoutMs: 3_000 } } };
	const cli = await setUpFormats({ settings: limits });
	const silences: Readonly<Record<Format, { step: Step; stderr: RegExp }>> = {
		chat: { step: reply({ text: "x", silence: "before-headers" }), stderr: /sent nothing for 3 s/ },
		anthropic: { step: reply({ text: "x", silence: "after-headers" }), stderr: /sent nothing for 3 s/ },
		responses: {
			step: reply({ text: "x", silence: "after-headers", comments: true }),
			stderr: /nothing of the reply for 6 s/,
		},
		gemini: { step: reply({ text: "Begun and left", silence: { afterEvents: 1 } }), stderr: /fell silent for 3 s/ },
	};
	await Promise.all(
		FORMATS.map(async (format) => {
			const { step, stderr } = silences[format];
			cli.servers[format].script(step);
			const argv = ["-p", "--session-dir", format, "--model", cli.modelOf(format), "hello"];
			expect({ format, ...(await cli.run(argv)) }).toMatchObject({
				format,
				code: 1,
				stderr: expect.stringMatching(stderr),
			});
		}),
	);
	await writeFile(join(cli.agentFolder, "settings.json"), "{}");
	cli.servers.gemini.script(reply({ text: "Back." }));
	expect(await cli.run(["-p", "--session-dir", "gemini", "--continue", "so?"])).toMatchObject({ stdout: "Back.\n" });
	expect(cli.servers.gemini.modelRequests.at(-1)!.raw).toContain("Begun and");
	cli.expectAccepted();
});
