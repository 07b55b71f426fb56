import { readStamp } from "../clis/records/files.ts";
import type { RecordPlace, RecordWord } from "../clis/records/record.ts";
import type { PaneInfo } from "../tmux/pane.ts";
import { type AgentWord, readAgentState } from "./agent-state.ts";
import { type Drive, rest } from "./context.ts";
import type { ProcessNode } from "./processes.ts";
import { readProcessTree, walkTree } from "./processes.ts";
import { type StatusWord, statusOf } from "./profile.ts";
import { type SessionView, viewSession } from "./session.ts";

/** Whether a session's turn is over: `idle` needs a second source, without one it is `idle-unconfirmed`. */
export type TurnWord = StatusWord | "idle-unconfirmed";

/** How a record behaved during a window. */
export type RolloutWord = "grew" | "quiet" | "unknown";

/** The answer of `state` with everything it rests on. */
export interface TurnState {
	readonly state: TurnWord;
	readonly pane: string | null;
	/** What the screen said, and by which rule. */
	readonly screen: StatusWord;
	readonly rule: string | null;
	/** What the agent's own record says outright, or how its size behaved. */
	readonly producer: RecordWord | RolloutWord;
	readonly hook: AgentWord | null;
	readonly path: string | null;
	/** Sizes of the record before and after the window, if one was needed. */
	readonly sizes: readonly number[];
}

/** Reads the turn state of a session from its screen, its record and its hooks. */
export async function readTurnState(
	drive: Drive,
	name: string,
	windowMs = drive.timings.rolloutWindow,
): Promise<TurnState> {
	const view = await viewSession(drive, name);
	if (view === undefined) {
		return {
			state: "dead",
			pane: null,
			screen: "dead",
			rule: null,
			producer: "unknown",
			hook: null,
			path: null,
			sizes: [],
		};
	}
	return judgeView(drive, view, windowMs);
}

async function judgeView(drive: Drive, view: SessionView, windowMs: number): Promise<TurnState> {
	const screen = statusOf(view.verdict);
	const facts = { pane: view.io.id, screen, rule: view.verdict.rule };
	const none = { producer: "unknown", hook: null, path: null, sizes: [] } as const;
	if (screen === "dead" || screen === "busy" || screen === "starting") return { state: screen, ...facts, ...none };
	const { info } = view.frame;
	const hook = (await readAgentState(drive, info))?.word ?? null;
	const path = (await findRecord(drive, view)) ?? null;
	const said = path === null ? undefined : await view.profile.cli?.record?.read(path);
	if (said !== undefined) {
		return { state: combine(screen, said, hook), ...facts, producer: said, hook, path, sizes: [] };
	}
	if (screen !== "idle" || hook === "active") {
		return { state: combine(screen, "unknown", hook), ...facts, producer: "unknown", hook, path, sizes: [] };
	}
	const growth = await watchRecord(drive, path, windowMs);
	const again = growth.word === "quiet" ? await viewSession(drive, view.name) : view;
	// A turn may have begun while the record was watched.
	const after = again === undefined ? "dead" : statusOf(again.verdict);
	const state = after === "idle" ? combine("idle", growth.word, hook) : after;
	return { state, ...facts, producer: growth.word, hook, path, sizes: growth.sizes };
}

/** Joins the sources: one that says busy wins, `idle` needs the screen and one more, doubt stays doubt. */
export function combine(screen: StatusWord, producer: RecordWord | RolloutWord, hook: AgentWord | null): TurnWord {
	if (screen === "dead" || screen === "busy" || screen === "blocked" || screen === "starting") return screen;
	if (producer === "waiting") return "blocked";
	if (producer === "busy" || producer === "grew" || hook === "active" || hook === "waiting") return "busy";
	if (screen !== "idle") return screen;
	return producer === "idle" || producer === "quiet" || hook === "idle" ? "idle" : "idle-unconfirmed";
}

/** Whether the record of a session grew during a window; `unknown` when it has none. */
export async function readRollout(drive: Drive, name: string, windowMs: number): Promise<RolloutWord> {
	const view = await viewSession(drive, name);
	if (view === undefined) return "unknown";
	return (await watchRecord(drive, (await findRecord(drive, view)) ?? null, windowMs)).word;
}

/** The file or address in which the agent of a session records its turns; undefined when it cannot be identified. */
export async function findRecord(drive: Drive, view: SessionView): Promise<string | undefined> {
	const reader = view.profile.cli?.record;
	return reader?.find(await describePlace(drive, view.frame.info));
}

async function describePlace(drive: Drive, info: PaneInfo): Promise<RecordPlace> {
	const tree = await readProcessTree(info.pid);
	const nodes: ProcessNode[] = tree === undefined ? [] : [...walkTree(tree)];
	return {
		cwd: info.cwd,
		pids: nodes.map((node) => node.pid),
		cmdlines: nodes.map((node) => node.cmdline),
		env: drive.env,
	};
}

async function watchRecord(
	drive: Drive,
	path: string | null,
	windowMs: number,
): Promise<{ word: RolloutWord; sizes: number[] }> {
	const before = path === null ? undefined : readStamp(path);
	if (path === null || before === undefined) return { word: "unknown", sizes: [] };
	await rest(drive, windowMs);
	const after = readStamp(path);
	const isSame = after !== undefined && after.size === before.size && after.inode === before.inode;
	return { word: isSame ? "quiet" : "grew", sizes: [before.size, after?.size ?? 0] };
}
