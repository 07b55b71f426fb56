import { closeSync, linkSync, openSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
	const file = join(folder, `${sessionId}.json`);
	const mine: LeaseOwner = { ...identifyProcess(process.pid), since: new Date().toISOString() };
	const record = JSON.stringify(mine);
	makeFolder(folder);
	if (!createWhole(file, record)) takeOver(file, record, sessionId);
	removeOldDrafts(folder, `${sessionId}.json.`);
	return {
		release: () => {
			// A lease that somebody else has by now is not ours to remove.
			if (readText(file) === record) rmSync(file, { force: true });
		},
	};
}

/** The living owner of a lease, if it has one. */
export function findLeaseOwner(folder: string, id: string): LeaseOwner | undefined {
	const owner = readOwner(join(folder, `${id}.json`));
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
