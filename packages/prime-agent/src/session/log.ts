import { createEntryId } from "../lib/ids.ts";
import { ignore } from "../lib/ignore.ts";
import { type Entry, isBookkeeping, SESSION_VERSION, type SessionHeader } from "../protocol/entry.ts";
import { AgentError } from "../protocol/errors.ts";
import { type BrokenLine, readMessage, readSession } from "./reading.ts";
import type { OpenedStore, SessionStore } from "./storage.ts";
import { type EntryHead, EntryTree, type Row } from "./tree.ts";

/** An entry that is not written yet: its type and content; id, parent and time are added. */
export type EntryDraft = { readonly type: string; readonly customType?: string } & Readonly<Record<string, unknown>>;

/** The part of a `message` entry that models are told. */
export interface SpokenMessage {
	readonly type: "message";
	readonly message: unknown;
}

/** Kinds that make a session worth a file. */
const STARTS_FILE: ReadonlySet<string> = new Set(["message", "custom_message"]);
/** The newest entries are kept parsed. */
const KEPT_ENTRIES = 256;

/** The append-only record of one session: where entries lie is in memory, their content on demand. */
export class SessionLog {
	readonly header: SessionHeader;
	/** Lines of the file that could not be used, for one report. */
	readonly broken: readonly BrokenLine[];
	readonly #store: SessionStore;
	readonly #tree: EntryTree;
	readonly #now: () => number;
	readonly #listeners = new Set<(entry: Entry) => void>();
	readonly #kept = new Map<Row, Entry>();
	/** False until the first message: a session that nobody spoke to leaves no file. */
	#started = true;
	#version = 0;
	/** What came of the syncs that nobody has waited for yet. */
	#syncs: Promise<void> = Promise.resolve();

	private constructor(
		header: SessionHeader,
		store: SessionStore,
		tree: EntryTree,
		broken: readonly BrokenLine[],
		now: () => number,
	) {
		this.header = header;
		this.#store = store;
		this.#tree = tree;
		this.broken = broken;
		this.#now = now;
	}

	/** Starts a new log; the store stays empty until the first message. */
	static create(header: SessionHeader, store: SessionStore, now: () => number = Date.now): SessionLog {
		store.append(encodeLine(header), { hold: true });
		const log = new SessionLog(header, store, new EntryTree(), [], now);
		log.#started = false;
		return log;
	}

	/**
	 * Reads an existing log. `fallback` stands in for a header that is broken.
	 * @throws {AgentError} `stale` when the file was written by a newer version of the format.
	 */
	static open(opened: OpenedStore, fallback: SessionHeader, now: () => number = Date.now): SessionLog {
		const reading = readSession(opened.store);
		const header = reading.header ?? fallback;
		if (header.version > SESSION_VERSION) {
			throw new AgentError(
				"stale",
				`Session ${header.id} has format version ${header.version}; this program reads up to ${SESSION_VERSION}. Update Prime Agent to open it.`,
			);
		}
		const torn = opened.tornBytes > 0 ? [{ line: -1, reason: `its last ${opened.tornBytes} bytes were cut off` }] : [];
		return new SessionLog(header, opened.store, reading.tree, [...reading.broken, ...torn], now);
	}

	get file(): string | undefined {
		return this.#store.file;
	}

	/** Grows with every append and every move of the leaf; `expect` compares it. */
	get version(): number {
		return this.#version;
	}

	/** Entries in the log, over all branches. */
	get length(): number {
		return this.#tree.length;
	}

	get leafId(): string | null {
		return this.#tree.idOf(this.#tree.leaf);
	}

	/**
	 * Writes entries at the leaf, in one write, and tells the listeners.
	 * @throws {AgentError} `stale` when the log moved on from version `expect`; `storage_*` when the write failed: then
	 * none of the entries exists.
	 */
	append(drafts: readonly EntryDraft[], options: { readonly expect?: number } = {}): Entry[] {
		if (options.expect !== undefined && options.expect !== this.#version) {
			throw new AgentError("stale", "The conversation moved on meanwhile; the change was not made.");
		}
		const entries = this.#fill(drafts);
		const lines = entries.map(encodeLine);
		const bytes = lines.length === 1 ? lines[0]! : Buffer.concat(lines);
		const starts = this.#started || drafts.some((draft) => STARTS_FILE.has(draft.type));
		let offset = this.#store.append(bytes, { hold: !starts });
		this.#started = starts;
		for (const [index, entry] of entries.entries()) {
			const { length } = lines[index]!;
			this.#keep(this.#tree.add(headOf(entry), offset, length - 1), entry);
			offset += length;
		}
		this.#version++;
		for (const entry of entries) for (const listener of this.#listeners) listener(entry);
		return entries;
	}

	/** Makes the entry the tip: what is appended from now on follows it. `null` goes before the first entry. */
	moveTo(id: string | null): void {
		const row = id === null ? -1 : this.#tree.rowOf(id);
		if (row === undefined) throw new AgentError("not_found", `Entry ${id} not found`);
		this.#tree.moveLeaf(row);
		this.#version++;
	}

	/** The entries from the root to the leaf, all or those of the wanted kinds; the others are not even parsed. */
	branch(wanted?: ReadonlySet<string>): Entry[] {
		return [...this.fromLeaf(wanted)].reverse();
	}

	/** The newest entry of a kind on the branch. */
	latest(kind: string): Entry | undefined {
		return this.fromLeaf(new Set([kind])).next().value ?? undefined;
	}

	/** The entries from the leaf back to the root or to `until`, parsed one by one as they are asked for. */
	*fromLeaf(wanted?: ReadonlySet<string>, until?: string): Generator<Entry, undefined> {
		for (const row of this.#rowsFromLeaf(wanted, until)) {
			const entry = this.#read(row);
			if (entry) yield entry;
		}
	}

	/** `fromLeaf` for those who want of a `message` entry nothing but its message: long sessions open in half the time. */
	*messagesFromLeaf(wanted: ReadonlySet<string>, until?: string): Generator<Entry | SpokenMessage, undefined> {
		for (const row of this.#rowsFromLeaf(wanted, until)) {
			const entry = this.#kept.get(row) ?? this.#readMessage(row) ?? this.#read(row);
			if (entry) yield entry;
		}
	}

	/** Whether both entries exist and the first was written before the second. */
	isBefore(firstId: string, secondId: string): boolean {
		const first = this.#tree.rowOf(firstId);
		const second = this.#tree.rowOf(secondId);
		return first !== undefined && second !== undefined && first < second;
	}

	/** The returned function ends the subscription. A listener must not throw. */
	onAppend(listener: (entry: Entry) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Resolves when all that was appended survives a power cut. */
	sync(): Promise<void> {
		this.beginSync();
		return this.settleSyncs();
	}

	/** Asks the disk to keep all that was appended; `settleSyncs` tells what comes of it. */
	beginSync(): void {
		this.#syncs = Promise.all([this.#syncs, this.#store.sync()]).then(() => undefined);
		this.#syncs.catch((error: unknown) => ignore(error, "whoever waits for the syncs is told"));
	}

	/**
	 * Resolves when the disk has kept what it was asked to. One sync that failed is told whatever came of those after it:
	 * Linux forgets what it could not keep, and then says that all is well.
	 */
	async settleSyncs(): Promise<void> {
		const syncs = this.#syncs;
		try {
			await syncs;
		} finally {
			if (syncs === this.#syncs) this.#syncs = Promise.resolve();
		}
	}

	close(): void {
		this.#store.close();
	}

	/** Gives drafts their ids, parents and time. */
	#fill(drafts: readonly EntryDraft[]): Entry[] {
		const ids = new Set<string>();
		const timestamp = new Date(this.#now()).toISOString();
		let parentId = this.leafId;
		return drafts.map(({ type, customType, ...content }) => {
			const id = createEntryId((taken) => this.#tree.rowOf(taken) !== undefined || ids.has(taken));
			ids.add(id);
			// The order of the first fields is what `reading.ts` finds without parsing.
			const head = customType === undefined ? { type } : { type, customType };
			const entry: Entry = { ...head, id, parentId, timestamp, ...content };
			if (!isBookkeeping(type)) parentId = id;
			return entry;
		});
	}

	#rowsFromLeaf(wanted?: ReadonlySet<string>, until?: string): Generator<Row> {
		return this.#tree.fromLeaf(wanted, until === undefined ? 0 : (this.#tree.rowOf(until) ?? 0));
	}

	#readMessage(row: Row): SpokenMessage | undefined {
		const { offset, length } = this.#tree.placeOf(row);
		const message = readMessage(this.#store.readText(offset, length));
		return message === undefined ? undefined : { type: "message", message };
	}

	#read(row: Row): Entry | undefined {
		const kept = this.#kept.get(row);
		if (kept) return kept;
		const { offset, length } = this.#tree.placeOf(row);
		try {
			const entry = JSON.parse(this.#store.readText(offset, length)) as Entry;
			return typeof entry.id === "string" ? entry : this.#complete(entry, row);
		} catch {
			// The head was sound and the rest is not: as good as a missing line.
			return undefined;
		}
	}

	/** An entry of an older version, with what reading gave it. */
	#complete(entry: Entry, row: Row): Entry {
		return { ...entry, id: this.#tree.idOf(row)!, parentId: this.#tree.parentIdOf(row) };
	}

	#keep(row: Row, entry: Entry): void {
		if (this.#kept.size >= KEPT_ENTRIES) {
			const oldest = this.#kept.keys().next();
			if (!oldest.done) this.#kept.delete(oldest.value);
		}
		this.#kept.set(row, entry);
	}
}

function headOf(entry: Entry): EntryHead {
	const customType = typeof entry.customType === "string" ? entry.customType : undefined;
	return { type: entry.type, customType, id: entry.id, parentId: entry.parentId };
}

/** One line: the JSON on which a newline inside is escaped, and the newline that ends it. */
function encodeLine(value: object): Buffer {
	return Buffer.from(`${JSON.stringify(value)}\n`, "utf8");
}
