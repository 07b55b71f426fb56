import { closeSync, linkSync, openSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileNameOf } from "../lib/ids.ts";
import { makeFolder } from "./folder.ts";
import { identifyProcess, isAlive, type ProcessIdentity } from "./identity.ts";

/** The right to write one session; only one living process has it. */
export interface Lease {
	/** Gives the lease back. Can be called twice. */
	release(): void;
}

/** Who has a lease. */
export interface LeaseOwner extends ProcessIdentity {
	/** ISO 8601, UTC. */
	readonly since: string;
}

/** A living process has the lease. */
export class LeaseHeldError extends Error {
	override name = "LeaseHeldError";
	/** Undefined when the owner took it in this very moment. */
	readonly owner: LeaseOwner | undefined;
	constructor(sessionId: string, owner: LeaseOwner | undefined) {
		const who = owner ? `process ${owner.pid}, since ${owner.since}` : "another process";
		super(`Session ${sessionId} is already active in ${who}. End it there, or start a new session.`);
		this.owner = owner;
	}
}

/**
 * Takes the lease of a session; that of a dead process is taken over, that of a living one never.
 * `folder` is made (0700) if need be.
 * @throws {LeaseHeldError} when a living process has it; errors of the file system as they are.
 */
export function acquireLease(folder: string, sessionId: string): Lease {
	const name = `${fileNameOf(sessionId)}.json`;
	const file = join(folder, name);
	const mine: LeaseOwner = { ...identifyProcess(process.pid), since: new Date().toISOString() };
	const record = JSON.stringify(mine);
	makeFolder(folder);
	if (!createWhole(file, record)) takeOver(file, record, sessionId);
	removeOldDrafts(folder, `${name}.`);
	return {
		release: () => {
			// A lease that somebody else has by now is not ours to remove.
			if (readText(file) === record) rmSync(file, { force: true });
		},
	};
}

/** How a lease is waited for. */
interface LeaseWait {
	/** The longest that it may take; without an end when not given. */
	readonly limitMs?: number;
	readonly signal?: AbortSignal | undefined;
	/** Told once who has it. */
	readonly onWait?: (owner: LeaseOwner | undefined) => void;
}

const LOOK_MS = 20;
const MOST_MISSED = 50;

/**
 * Takes a lease like `acquireLease`, waiting while a living process has it.
 * @throws {LeaseHeldError} when the time is up; the reason of `signal` when that aborts first; errors of the file system.
 */
export async function waitForLease(
	folder: string,
	id: string,
	{ limitMs = Number.POSITIVE_INFINITY, signal, onWait }: LeaseWait = {},
): Promise<Lease> {
	const deadline = performance.now() + limitMs;
	let missed = 0;
	let isTold = false;
	for (;;) {
		signal?.throwIfAborted();
		try {
			return acquireLease(folder, id);
		} catch (error) {
			const isHeld = error instanceof LeaseHeldError;
			// Who cleans up after a crash may take the draft of another one with it: that is worth another try.
			const isMissed = (error as NodeJS.ErrnoException).code === "ENOENT" && ++missed <= MOST_MISSED;
			if (!(isHeld || isMissed) || performance.now() > deadline) throw error;
			if (isHeld && !isTold) onWait?.(error.owner);
			isTold ||= isHeld;
		}
		// Of several that wait, none is always the last to look.
		await sleep(LOOK_MS * (0.5 + Math.random()));
	}
}

/** The living owner of a lease, if it has one. */
export function findLeaseOwner(folder: string, id: string): LeaseOwner | undefined {
	const owner = readOwner(join(folder, `${fileNameOf(id)}.json`));
	return owner && isAlive(owner) ? owner : undefined;
}

/** Creates the file with its whole content or not at all; false when it exists. */
function createWhole(file: string, content: string): boolean {
	const draft = `${file}.${process.pid}.draft`;
	writeFileSync(draft, content, { mode: 0o600 });
	try {
		linkSync(draft, file);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	} finally {
		unlinkSync(draft);
	}
}

/** A process that was killed while it took a lease left its draft. */
function removeOldDrafts(folder: string, prefix: string): void {
	for (const name of readdirSync(folder)) {
		if (!name.startsWith(prefix) || !name.endsWith(".draft")) continue;
		const pid = Number(/\.(\d+)\.draft$/.exec(name)?.[1]);
		if (!isAlive({ pid, startTicks: null, bootId: null })) rmSync(join(folder, name), { force: true });
	}
}

/** Only one process at a time judges a lease: otherwise a second one could remove what the first one just took. */
function takeOver(file: string, record: string, sessionId: string): void {
	const judge = `${file}.takeover`;
	if (!createWhole(judge, record)) {
		const other = readOwner(judge);
		if (other && isAlive(other)) throw new LeaseHeldError(sessionId, other);
		rmSync(judge, { force: true });
		if (!createWhole(judge, record)) throw new LeaseHeldError(sessionId, readOwner(judge));
	}
	try {
		const owner = readOwner(file);
		if (owner && isAlive(owner)) throw new LeaseHeldError(sessionId, owner);
		rmSync(file, { force: true });
		if (!createWhole(file, record)) throw new LeaseHeldError(sessionId, readOwner(file));
	} finally {
		rmSync(judge, { force: true });
	}
}

function readOwner(file: string): LeaseOwner | undefined {
	try {
		const value = JSON.parse(readText(file) ?? "null") as Partial<LeaseOwner> | null;
		return typeof value?.pid === "number" && typeof value.since === "string" ? (value as LeaseOwner) : undefined;
	} catch {
		// A lease is written whole: what cannot be read is no lease.
		return undefined;
	}
}

function readText(file: string): string | undefined {
	let fd: number;
	try {
		fd = openSync(file, "r");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
	try {
		return readFileSync(fd, "utf8");
	} finally {
		closeSync(fd);
	}
}
