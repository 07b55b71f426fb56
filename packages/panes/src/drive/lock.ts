import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { makePrivateFolder } from "../clis/folder.ts";
import { PaneError } from "../errors.ts";
import { type Drive, rest } from "./context.ts";
import { isAlive } from "./processes.ts";

const WAIT_MS = 30_000;

/**
 * Holds the lock of a pane while a task runs, so that two senders on this machine cannot mix their keys. The lock of a
 * process that has ended is taken over.
 */
export async function withPaneLock<Value>(drive: Drive, pane: string, task: () => Promise<Value>): Promise<Value> {
	const path = lockPath(drive, pane);
	const end = drive.clock.now() + WAIT_MS;
	while (!tryLock(path)) {
		if (drive.clock.now() >= end) {
			throw new PaneError(
				"refused",
				`another agent-tmux has been sending to ${pane} for ${WAIT_MS / 1000} s; try again`,
			);
		}
		await rest(drive, 20);
	}
	try {
		return await task();
	} finally {
		rmSync(path, { force: true });
	}
}

function lockPath(drive: Drive, pane: string): string {
	const folder = join(tmpdir(), `agent-tmux-${userInfo().uid}`);
	makePrivateFolder(folder);
	const server = `${drive.tmux.label ?? "default"} ${drive.env.TMUX_TMPDIR ?? ""}`;
	const name = createHash("sha256").update(`${server} ${pane}`).digest("hex").slice(0, 24);
	return join(folder, `${name}.lock`);
}

function tryLock(path: string): boolean {
	try {
		const file = openSync(path, "wx", 0o600);
		writeSync(file, String(process.pid));
		closeSync(file);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		return takeOver(path);
	}
}

/** An empty lock belongs to a process between making and signing it. */
function takeOver(path: string): boolean {
	const owner = readOwner(path);
	if (owner === undefined || owner === process.pid || isAlive(owner)) return false;
	rmSync(path, { force: true });
	return false;
}

function readOwner(path: string): number | undefined {
	try {
		const pid = Number(readFileSync(path, "utf8"));
		return Number.isInteger(pid) && pid > 0 ? pid : undefined;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}
