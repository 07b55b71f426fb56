import { AGENT_WORDS, type AgentWord, readAgentState } from "../drive/agent-state.ts";
import { awaitPanes, watchActive } from "../drive/await.ts";
import type { Drive } from "../drive/context.ts";
import { deliverText } from "../drive/deliver.ts";
import { checkGate, type Intent } from "../drive/gate.ts";
import type { PaneIO } from "../drive/pane-io.ts";
import { openPaneIO } from "../drive/pane-io.ts";
import { sendToPane } from "../drive/pane-send.ts";
import { sendByLadder, sendToSession } from "../drive/session-send.ts";
import { PaneError } from "../errors.ts";
import type { PaneInfo } from "../tmux/pane.ts";
import type { Command, CommandWorld, ParsedLine } from "./command.ts";
import { MODE_FLAG, makeDrive, printResult, SERVER_FLAGS } from "./drive.ts";
import { usage } from "./parse.ts";
import { resolveTarget } from "./target.ts";

/** `agent-tmux send` */
export const send: Command = {
	spec: {
		name: "send",
		form: "TARGET (MESSAGE | - | --key K...) [options]",
		summary: "Send a message to a session or a pane, and say what was proven.",
		flags: {
			key: {
				value: "K",
				repeats: true,
				help: "press a named key (Enter, Escape, Up, C-c) instead of a message; a pane only",
			},
			answer: { help: "also send to an agent that waits for an answer; a pane only" },
			force: { help: "skip the state check and send a text that the CLI is known to change" },
			clear: { help: "drop text that stands in the composer; a session only" },
			via: { value: "WAY", help: "typed (as deliver does), paste (a pane's way) or ladder (a session's way)" },
			"no-enter": { help: "leave the text in the composer; a pane only" },
			await: { value: "STATES", bare: "idle,waiting", help: "then wait for a state; a pane only" },
			timeout: { value: "S", help: "limit of that wait in seconds (300; 0: none)" },
			...MODE_FLAG,
			...SERVER_FLAGS,
		},
		arity: [1, 2],
		notes: [
			"A session prints `submitted` (the composer took it) or `queued` (it runs after the current turn).",
			"A pane prints `delivered` (Enter was sent; no claim that the turn started), `staged` or `unverified` (exit 1).",
			"MESSAGE - is read from standard input. A text that the CLI would change is refused with the reason.",
		],
	},
	run: async (line, world) => {
		const [target = ""] = line.positionals;
		checkFlags(line);
		const drive = makeDrive(line, world);
		const isPane = /^[%@=]/.test(target) || (line.has("via") && line.text("via") !== "ladder");
		return isPane ? sendPane(line, world, drive, target) : sendSession(line, world, drive, target);
	},
};

/** Ways to send: a typed line with every step proven, a guarded paste, or keys until the composer is empty. */
const WAYS = ["typed", "paste", "ladder"] as const;

function checkFlags(line: ParsedLine): void {
	const payloads = (line.positionals.length > 1 ? 1 : 0) + (line.has("key") ? 1 : 0);
	if (payloads !== 1) throw usage(send.spec, "give exactly one of a message, - or --key");
	if (line.has("answer") && line.has("force")) throw usage(send.spec, "--answer and --force exclude each other");
	if (line.has("await") && line.has("no-enter")) throw usage(send.spec, "--await and --no-enter exclude each other");
	line.number("timeout", 0);
	const way = line.text("via");
	if (way === undefined) return;
	if (!WAYS.some((each) => each === way)) throw usage(send.spec, `--via is ${WAYS.join(", ")}, not "${way}"`);
	if (line.has("key")) throw usage(send.spec, "--via sends a message, and --key is none");
	if (line.has("no-enter") && way !== "paste") throw usage(send.spec, "--no-enter goes with --via paste alone");
}

async function readMessage(line: ParsedLine, world: CommandWorld): Promise<string> {
	const given = line.positionals[1] ?? "";
	const message = given === "-" ? await world.readInput() : given;
	if (message.trim() === "") throw usage(send.spec, "the message is empty");
	return message;
}

async function sendSession(line: ParsedLine, world: CommandWorld, drive: Drive, name: string): Promise<number> {
	const flag = ["key", "answer", "no-enter", "await"].find((each) => line.has(each));
	if (flag !== undefined) throw usage(send.spec, `--${flag} needs a pane (%N), not a session name`);
	const message = await readMessage(line, world);
	const word = await sendToSession(drive, name, message, { clear: line.has("clear"), force: line.has("force") });
	printResult(
		line,
		world,
		{ ok: true, session: name, sent: word, level: word === "queued" ? "queued" : "taken" },
		word,
	);
	return 0;
}

async function sendPane(line: ParsedLine, world: CommandWorld, drive: Drive, target: string): Promise<number> {
	if (line.has("clear") && line.text("via") !== "ladder") throw usage(send.spec, "--clear needs a session name");
	const until = readStates(line);
	const message = line.has("key") ? undefined : await readMessage(line, world);
	const info = await resolveTarget(drive, target);
	const intent: Intent = line.has("force") ? "force" : line.has("answer") ? "answer" : "plain";
	const warning = checkGate(info.id, (await readAgentState(drive, info))?.word, intent);
	if (warning !== undefined) drive.warn(warning);
	const io = openPaneIO(drive, info.id);
	const word = message === undefined ? await pressKeys(line, io) : await sendText(line, drive, info, message);
	if (word === "unverified") {
		printResult(line, world, failure(info.id), `${word} ${info.id}`);
		world.note(
			`nothing changed after Enter, and ${info.id} could not be shown to be clean; look before you send again`,
		);
		return 1;
	}
	if (until === undefined) {
		printResult(line, world, { ok: true, pane: info.id, sent: word }, `${word} ${info.id}`);
		return 0;
	}
	return awaitAfter(line, world, drive, io, word, until);
}

function failure(pane: string): object {
	return { ok: false, error: { code: "unverified", message: `unverified ${pane}`, reason: "unverified" } };
}

async function pressKeys(line: ParsedLine, io: PaneIO): Promise<string> {
	await io.press(...line.all("key"));
	return "sent";
}

async function sendText(line: ParsedLine, drive: Drive, info: PaneInfo, message: string): Promise<string> {
	const io = openPaneIO(drive, info.id);
	const options = { force: line.has("force"), clear: line.has("clear"), stage: line.has("no-enter") };
	if (line.text("via") === "ladder") return sendByLadder(drive, info, message, options);
	if (line.text("via") !== "typed") return sendToPane(drive, io, message, options);
	const text = message.replace(/\r?\n$/, "");
	if (/[\r\n]/.test(text)) throw usage(send.spec, "--via typed takes one line");
	await deliverText(drive, io, text);
	return "delivered";
}

/** An agent without a state cannot be waited for; the delivery is reported all the same. */
async function awaitAfter(
	line: ParsedLine,
	world: CommandWorld,
	drive: Drive,
	io: PaneIO,
	word: string,
	until: readonly AgentWord[],
): Promise<number> {
	const timeoutMs = (line.number("timeout", 0) ?? 300) * 1000;
	try {
		await watchActive(drive, io);
		const result = await awaitPanes(drive, [io], { until, timeoutMs });
		const document = {
			ok: result.word !== "gone",
			pane: io.id,
			sent: word,
			report: result.word,
			elapsed_ms: result.elapsedMs,
		};
		printResult(line, world, document, `${result.word} ${io.id}`);
		return result.word === "gone" ? 1 : 0;
	} catch (error) {
		if (error instanceof PaneError && error.code === "unobservable" && !line.has("json"))
			world.print(`${word} ${io.id}`);
		throw error;
	}
}

function readStates(line: ParsedLine): AgentWord[] | undefined {
	const text = line.text("await");
	if (text === undefined) return undefined;
	const words = text.split(",");
	const known = words.filter((word): word is AgentWord => (AGENT_WORDS as readonly string[]).includes(word));
	if (known.length !== words.length || new Set(words).size !== words.length) {
		throw usage(send.spec, `--await needs states of ${AGENT_WORDS.join(", ")}, not "${text}"`);
	}
	return known;
}
