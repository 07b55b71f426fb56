import type { SessionHeader } from "../protocol/entry.ts";
import { type EntryHead, EntryTree, type KindNumber } from "./tree.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const CLOSE = 0x7d;
const QUOTE = 0x22;

/** How almost every line begins; what varies has a fixed width. */
const MESSAGE = '{"type":"message","id":"';
const PARENT = '","parentId":"';
const NO_PARENT = '","parentId":null';
const HEX_DIGITS = 8;
const TIME = ',"timestamp":"';
const TIME_WIDTH = new Date(0).toISOString().length;
const CONTENT = '","message":';
/** No entry is shorter, and the pieces of a shorter line would lie beyond its end. */
const SHORTEST = MESSAGE.length + HEX_DIGITS + NO_PARENT.length + TIME.length + TIME_WIDTH;
/** Bytes that are looked at at once: small enough to stay in the processor's cache. */
const CHUNK = 256 * 1024;

/** The same, to be compared with a line four bytes at a time. */
const MESSAGE_WORDS = toWords(MESSAGE);
const PARENT_WORDS = toWords(PARENT);
const NO_PARENT_WORDS = toWords(NO_PARENT);

/** Fields before the content, in the order in which `log.ts` writes them. */
const HEAD =
	/^\{"type":"([a-z_]+)",(?:"customType":"([^"\\]+)",)?"id":"([^"\\]+)","parentId":(?:null|"([^"\\]+)"),"timestamp":"/;
/** A head fits in this many bytes unless names are unusually long; then the whole line is parsed. */
const HEAD_BYTES = 320;

/** Files of older versions are one line of talk: their entries have no ids, and each follows the one before it. */
const FIRST_TREE_VERSION = 3;

/** A line that could not be used; the session goes on without it. */
export interface BrokenLine {
	/** Number of the line in the file, from 1. */
	readonly line: number;
	readonly reason: string;
}

/** A session file as it was found. */
export interface SessionReading {
	/** Absent when the first line is no session header. */
	readonly header: SessionHeader | undefined;
	readonly tree: EntryTree;
	readonly broken: readonly BrokenLine[];
}

/** Where lines come from; what `read` gives is used before the next call. */
export interface LineSource {
	readonly size: number;
	read(offset: number, length: number): Buffer;
}

/**
 * Indexes lines without parsing their content: an entry is parsed when somebody asks for it.
 * Lines end with byte 0x0A and nothing else; blank lines are skipped, broken ones are counted and skipped.
 * Of two lines with one id the later one counts, at the place of the first.
 */
export function readSession(source: LineSource): SessionReading {
	const reading = new Reader(false).readAll(source);
	// Rare, and looking for each id while reading would cost as much as reading.
	return reading.tree.hasDuplicates() ? new Reader(true).readAll(source) : reading;
}

class Reader implements SessionReading {
	header: SessionHeader | undefined;
	readonly tree = new EntryTree();
	readonly broken: BrokenLine[] = [];
	readonly #messageKind = this.tree.kindNumber("message");
	readonly #mayRepeat: boolean;
	#line = 0;

	constructor(mayRepeat: boolean) {
		this.#mayRepeat = mayRepeat;
	}

	readAll(source: LineSource): this {
		for (let offset = 0, length = CHUNK; offset < source.size; ) {
			const isLast = offset + length >= source.size;
			const chunk = source.read(offset, Math.min(length, source.size - offset));
			const end = isLast ? chunk.length : chunk.lastIndexOf(NEWLINE) + 1;
			if (end === 0 && !isLast) {
				// One line that is longer than the chunk.
				length *= 2;
				continue;
			}
			this.#readLines(chunk, end, offset);
			offset = isLast ? source.size : offset + end;
			length = CHUNK;
		}
		return this;
	}

	#readLines(bytes: Buffer, length: number, offset: number): void {
		const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
		for (let start = 0; start < length; ) {
			const newline = bytes.indexOf(NEWLINE, start);
			const next = newline < 0 || newline > length ? length : newline;
			const end = next > start && bytes[next - 1] === RETURN ? next - 1 : next;
			this.#line++;
			if (end > start) this.#readLine(bytes, view, start, end, offset);
			start = next + 1;
		}
	}

	#readLine(bytes: Buffer, view: DataView, start: number, end: number, offset: number): void {
		const place = offset + start;
		const length = end - start;
		if (!this.#mayRepeat && addMessage(this.tree, this.#messageKind, bytes, view, start, end, offset)) return;
		const found = parseLine(bytes, start, end);
		if (typeof found === "string") this.broken.push({ line: this.#line, reason: found });
		else if ("header" in found) this.header ??= found.header;
		else this.#addEntry(found, place, length);
	}

	#addEntry(found: FoundEntry, place: number, length: number): void {
		const head = isWhole(found) ? found : this.#nameEntry(found);
		if (!head) {
			this.broken.push({ line: this.#line, reason: NO_ID });
			return;
		}
		const known = this.#mayRepeat ? this.tree.rowOf(head.id) : undefined;
		if (known === undefined) this.tree.add(head, place, length);
		else this.tree.replace(known, place, length);
	}

	/** The head of an entry that lacks something: in an older version its id is the number of its line. */
	#nameEntry({ type, customType, id, parentId }: FoundEntry): EntryHead | undefined {
		const isLinear = (this.header?.version ?? FIRST_TREE_VERSION) < FIRST_TREE_VERSION;
		if (id === undefined && !isLinear) return undefined;
		return {
			type,
			customType,
			id: id ?? this.#line.toString(16).padStart(HEX_DIGITS, "0"),
			parentId: parentId ?? (isLinear && parentId === undefined ? this.tree.idOf(this.tree.leaf) : null),
		};
	}
}

const NO_ID = "it has no type or id";

/** What a line says of its entry; older versions have neither id nor parent. */
type FoundEntry = Pick<EntryHead, "type" | "customType"> & { readonly id?: string; readonly parentId?: string | null };

function isWhole(found: FoundEntry): found is EntryHead {
	return found.id !== undefined && found.parentId !== undefined;
}

/** The fast way for a line of the usual form; false when it has another one. */
function addMessage(
	tree: EntryTree,
	kind: KindNumber,
	bytes: Buffer,
	view: DataView,
	start: number,
	end: number,
	offset: number,
): boolean {
	if (end - start < SHORTEST || bytes[end - 1] !== CLOSE || !hasAt(view, start, MESSAGE_WORDS)) return false;
	const idAt = start + MESSAGE.length;
	const id = readHex(bytes, idAt);
	const parentAt = idAt + HEX_DIGITS;
	if (id < 0) return false;
	const hasParent = hasAt(view, parentAt, PARENT_WORDS);
	const parentId = hasParent ? readHex(bytes, parentAt + PARENT.length) : -1;
	if (parentId < 0 && (hasParent || !hasAt(view, parentAt, NO_PARENT_WORDS))) return false;
	tree.addHex(id, parentId, kind, offset + start, end - start);
	return true;
}

/**
 * The message of a line of the usual form, without the parsing of what stands around it, which is half of a short line;
 * undefined when the line has another form.
 */
export function readMessage(line: string): unknown {
	const parentAt = MESSAGE.length + HEX_DIGITS;
	const isRoot = line.startsWith(NO_PARENT, parentAt);
	const timeAt = parentAt + (isRoot ? NO_PARENT.length : PARENT.length + HEX_DIGITS + 1);
	const contentAt = timeAt + TIME.length + TIME_WIDTH;
	if (!line.startsWith(CONTENT, contentAt)) return undefined;
	if (!line.startsWith(MESSAGE) || !line.startsWith(TIME, timeAt)) return undefined;
	try {
		// Were the message not the last field, this would be no JSON.
		return JSON.parse(line.slice(contentAt + CONTENT.length, -1));
	} catch {
		return undefined;
	}
}

/** Text as numbers of four bytes; what is left over is a number of one byte each. */
interface Words {
	readonly words: readonly number[];
	readonly rest: readonly number[];
}

function toWords(text: string): Words {
	const bytes = Buffer.from(text);
	const whole = Math.floor(bytes.length / 4);
	const words = Array.from({ length: whole }, (_, index) => bytes.readUInt32BE(4 * index));
	return { words, rest: [...bytes.subarray(4 * whole)] };
}

function hasAt(view: DataView, at: number, { words, rest }: Words): boolean {
	for (let i = 0; i < words.length; i++) if (view.getUint32(at + 4 * i) !== words[i]) return false;
	const restAt = at + 4 * words.length;
	for (let i = 0; i < rest.length; i++) if (view.getUint8(restAt + i) !== rest[i]) return false;
	return true;
}

/** What a byte is as a hex digit, 255 for none. */
const DIGITS = new Uint8Array(256).fill(255);
for (const [value, digit] of [..."0123456789abcdef"].entries()) DIGITS[digit.charCodeAt(0)] = value;

/** The number that 8 hex digits are, ended by a quote; -1 when something else stands there. */
function readHex(bytes: Buffer, at: number): number {
	const a = DIGITS[bytes[at]!]!;
	const b = DIGITS[bytes[at + 1]!]!;
	const c = DIGITS[bytes[at + 2]!]!;
	const d = DIGITS[bytes[at + 3]!]!;
	const e = DIGITS[bytes[at + 4]!]!;
	const f = DIGITS[bytes[at + 5]!]!;
	const g = DIGITS[bytes[at + 6]!]!;
	const h = DIGITS[bytes[at + 7]!]!;
	if ((a | b | c | d | e | f | g | h) > 15 || bytes[at + 8] !== QUOTE) return -1;
	return ((a << 28) | (b << 24) | (c << 20) | (d << 16) | (e << 12) | (f << 8) | (g << 4) | h) >>> 0;
}

function parseLine(bytes: Buffer, start: number, end: number): FoundEntry | { header: SessionHeader } | string {
	if (bytes[end - 1] === CLOSE) {
		const head = HEAD.exec(bytes.toString("latin1", start, Math.min(end, start + HEAD_BYTES)));
		// Other bytes than ASCII in names would be misread here; such lines take the slow way.
		if (head && isAscii(head[0])) {
			return { type: head[1]!, customType: head[2], id: head[3]!, parentId: head[4] ?? null };
		}
	}
	let value: unknown;
	try {
		value = JSON.parse(bytes.toString("utf8", start, end));
	} catch {
		return "it is not JSON";
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is not an object";
	const entry = value as Record<string, unknown>;
	if (entry.type === "session") return readHeader(entry) ?? "its header lacks an id or a folder";
	const { type, customType, id, parentId } = entry;
	if (typeof type !== "string") return NO_ID;
	return {
		type,
		customType: typeof customType === "string" ? customType : undefined,
		...(typeof id === "string" ? { id } : {}),
		...(typeof parentId === "string" || parentId === null ? { parentId } : {}),
	};
}

function readHeader(value: Record<string, unknown>): { header: SessionHeader } | undefined {
	if (typeof value.id !== "string" || typeof value.cwd !== "string") return undefined;
	const header = {
		...value,
		version: typeof value.version === "number" ? value.version : 1,
		timestamp: typeof value.timestamp === "string" ? value.timestamp : new Date(0).toISOString(),
		rlmDepth: typeof value.rlmDepth === "number" ? value.rlmDepth : 0,
	};
	return { header: header as unknown as SessionHeader };
}

function isAscii(text: string): boolean {
	for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7e) return false;
	return true;
}
