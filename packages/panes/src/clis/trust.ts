import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PaneError } from "../errors.ts";
import { makePrivateFolder } from "./folder.ts";
import { homeOf } from "./records/files.ts";

/** The folder of the user's own configuration. */
export function userFolder(env: NodeJS.ProcessEnv): string {
	return join(env.XDG_CONFIG_HOME || join(homeOf(env), ".config"), "agent-tmux");
}

/** Whether the user has trusted a project's file with exactly this content. */
export function isTrusted(env: NodeJS.ProcessEnv, path: string, text: string): boolean {
	return readStore(env)[realpathSync(path)] === hashOf(text);
}

/** Remembers that the user trusts a project's file with this content; undefined forgets the file. */
export function setTrust(env: NodeJS.ProcessEnv, path: string, text: string | undefined): void {
	const { [realpathSync(path)]: _old, ...others } = readStore(env);
	const store = text === undefined ? others : { ...others, [realpathSync(path)]: hashOf(text) };
	const file = storePath(env);
	const draft = `${file}.${process.pid}`;
	makePrivateFolder(dirname(file));
	writeFileSync(draft, `${JSON.stringify(store, null, "\t")}\n`, { mode: 0o600 });
	renameSync(draft, file);
}

function readStore(env: NodeJS.ProcessEnv): Record<string, string> {
	const path = storePath(env);
	if (!existsSync(path)) return {};
	try {
		const store: unknown = JSON.parse(readFileSync(path, "utf8"));
		if (typeof store === "object" && store !== null && !Array.isArray(store)) return store as Record<string, string>;
		throw new Error("it holds no JSON object");
	} catch (error) {
		const message = `${path} cannot be read: ${(error as Error).message}. Mend it, or remove it and trust anew.`;
		throw new PaneError("config", message, { cause: error });
	}
}

function storePath(env: NodeJS.ProcessEnv): string {
	return join(userFolder(env), "trusted.json");
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
