import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { makePrivateFolder } from "../clis/folder.ts";
import { isOnPath } from "../drive/program.ts";
import { PaneError } from "../errors.ts";
import { HARNESSES, type Harness } from "./harness.ts";
import { addHooks, countHooks, removeHooks } from "./settings.ts";

/** What would be written to one file; an undefined `after` removes it. */
export interface HookChange {
	readonly harness: Harness;
	readonly path: string;
	readonly before: string | undefined;
	readonly after: string | undefined;
}

/** How far a harness reports through us. */
export interface HookStatus {
	readonly agent: string;
	readonly path: string;
	readonly isOnPath: boolean;
	readonly state: "installed" | "partly" | "absent";
}

/** The harnesses that are meant: a named one, or all whose program is on PATH. */
export function chooseHarnesses(name: string | undefined, env: NodeJS.ProcessEnv): Harness[] {
	if (name === undefined) return HARNESSES.filter((harness) => isOnPath(harness.program, env));
	const harness = HARNESSES.find((each) => each.name === name);
	if (harness !== undefined) return [harness];
	throw new PaneError(
		"usage",
		`no hooks are known for "${name}"; known: ${HARNESSES.map((each) => each.name).join(", ")}`,
	);
}

/** The change that installs our hooks; undefined when all of them are there already. */
export function planInstall(harness: Harness, tool: string, env: NodeJS.ProcessEnv): HookChange | undefined {
	const path = pathOf(harness, env);
	const before = readText(path);
	const after = addHooks(harness, before, tool, path);
	return after === before ? undefined : { harness, path, before, after };
}

/** The change that takes our hooks out; an untouched file gets back the very bytes from before the installation. */
export function planUninstall(harness: Harness, env: NodeJS.ProcessEnv): HookChange | undefined {
	const path = pathOf(harness, env);
	const before = readText(path);
	if (before === undefined || countHooks(harness, before, path) === 0) return undefined;
	const kept = readJournal(harness, env);
	const isUntouched = kept !== undefined && kept.path === path && kept.written === digest(before);
	const after = isUntouched ? kept.original : removeHooks(harness, before, path);
	return { harness, path, before, after };
}

/** Writes a change with mode 0600 and remembers the bytes from before an installation. */
export function applyChange(change: HookChange, env: NodeJS.ProcessEnv): void {
	const { harness, path, before, after } = change;
	const journal = journalPath(harness, env);
	const isInstall = after !== undefined && countHooks(harness, after, path) > 0;
	if (isInstall) {
		const earlier = readJournal(harness, env);
		// A second installation must not take our own entries for the user's file.
		const isOurOwn = before !== undefined && countHooks(harness, before, path) > 0;
		const original = isOurOwn ? earlier?.original : before;
		writeFile(journal, JSON.stringify({ path, original: original ?? null, written: digest(after) }));
	}
	if (after === undefined) rmSync(path, { force: true });
	else writeFile(path, after);
	if (!isInstall) rmSync(journal, { force: true });
}

/** Says for each harness whether our hooks are in its file. */
export function readHookStatus(harness: Harness, env: NodeJS.ProcessEnv): HookStatus {
	const path = pathOf(harness, env);
	const count = countHooks(harness, readText(path), path);
	const state = count === 0 ? "absent" : count < harness.events.length ? "partly" : "installed";
	return { agent: harness.name, path, isOnPath: isOnPath(harness.program, env), state };
}

function pathOf(harness: Harness, env: NodeJS.ProcessEnv): string {
	return harness.path(env.HOME || homedir(), env);
}

interface Journal {
	readonly path: string;
	readonly original: string | undefined;
	readonly written: string;
}

function journalPath(harness: Harness, env: NodeJS.ProcessEnv): string {
	const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
	return join(state, "agent-tmux", `hooks-${harness.name}.json`);
}

function readJournal(harness: Harness, env: NodeJS.ProcessEnv): Journal | undefined {
	const text = readText(journalPath(harness, env));
	if (text === undefined) return undefined;
	const { path, original, written } = JSON.parse(text) as { path: string; original: string | null; written: string };
	return { path, original: original ?? undefined, written };
}

function readText(path: string): string | undefined {
	return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function writeFile(path: string, text: string): void {
	makePrivateFolder(dirname(path));
	const temporary = `${path}.${process.pid}.tmp`;
	writeFileSync(temporary, text, { mode: 0o600 });
	renameSync(temporary, path);
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
