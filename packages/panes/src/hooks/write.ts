import {
	type AgentWord,
	formatAgentState,
	LEGACY_STATE_OPTION,
	SESSION_OPTION,
	STATE_OPTION,
} from "../drive/agent-state.ts";
import { readParent } from "../drive/processes.ts";
import { ignore } from "../ignore.ts";
import { Tmux } from "../tmux/server.ts";
import { setPaneOptions } from "../tmux/session.ts";
import { findHarness, type Harness, HOOK_TOKENS, type HookToken } from "./harness.ts";

const HOPS = 5;
const INPUT_LIMIT = 1024 * 1024;

/** What a hook command needs of its process. */
export interface HookWorld {
	readonly env: NodeJS.ProcessEnv;
	/** Parent of the hook's process. */
	readonly ppid: number;
	/** Standard input, or undefined when it is a terminal. */
	readonly input: AsyncIterable<string | Buffer> | undefined;
	readonly now: () => number;
}

/**
 * Writes the state that a harness's hook reports into its pane. Never throws and prints nothing: a hook must not
 * disturb the agent. Returns the text that the harness expects as an answer.
 */
export async function writeFromHook(words: readonly string[], world: HookWorld): Promise<string> {
	const call = readCall(words);
	if (call === undefined) return "";
	try {
		await writeState(call.harness, call.token, world);
	} catch (error) {
		ignore(error, "a hook that cannot report leaves the state unknown");
	}
	return call.harness.reply ?? "";
}

async function writeState(harness: Harness, token: HookToken, world: HookWorld): Promise<void> {
	const pane = world.env.TMUX_PANE;
	if (pane === undefined || !/^%\d+$/.test(pane)) return;
	const socket = world.env.TMUX?.split(",")[0];
	const tmux = new Tmux(socket ? { path: socket } : {}, { env: world.env });
	const reference = sessionOf(harness, await readLimited(world.input));
	const values: Record<string, string> = {};
	if (token !== "stamp") {
		const pid = await findAncestor(harness.comm, world.ppid);
		const state = { word: token satisfies AgentWord, epoch: Math.floor(world.now() / 1000) };
		const text = formatAgentState(pid === undefined ? state : { ...state, pid });
		values[STATE_OPTION] = text;
		values[LEGACY_STATE_OPTION] = text;
	}
	if (reference !== undefined) values[SESSION_OPTION] = `${harness.name}:${reference}`;
	await setPaneOptions(tmux, pane, values);
}

/** Harnesses run hooks through a throw-away shell, so the agent is looked for by its name above it; else nobody. */
async function findAncestor(comm: string, ppid: number): Promise<number | undefined> {
	let pid = ppid;
	for (let hop = 0; hop < HOPS && pid > 1; hop++) {
		const found = await readParent(pid);
		if (found === undefined) return undefined;
		if (found.comm === comm) return pid;
		pid = found.ppid;
	}
	return undefined;
}

function readCall(words: readonly string[]): { harness: Harness; token: HookToken } | undefined {
	const [flag, name, token, ...more] = words;
	if (flag !== "--agent" || name === undefined || more.length > 0) return undefined;
	const harness = findHarness(name);
	const known = HOOK_TOKENS.find((each) => each === token);
	return harness === undefined || known === undefined ? undefined : { harness, token: known };
}

function sessionOf(harness: Harness, text: string): string | undefined {
	if (text.trim() === "") return undefined;
	const value = (JSON.parse(text) as Record<string, unknown>)[harness.sessionField];
	return typeof value === "string" && /^[^\s\p{Cc}]+$/u.test(value) ? value : undefined;
}

async function readLimited(input: AsyncIterable<string | Buffer> | undefined): Promise<string> {
	if (input === undefined) return "";
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of input) {
		const bytes = Buffer.from(chunk);
		size += bytes.length;
		if (size > INPUT_LIMIT) return "";
		chunks.push(bytes);
	}
	return Buffer.concat(chunks).toString("utf8");
}
