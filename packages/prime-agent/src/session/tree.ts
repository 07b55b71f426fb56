import { entryKind, isBookkeeping } from "../protocol/entry.ts";

/** Number of an entry in file order, from 0; -1 stands before the first entry. */
export type Row = number;

/** What an entry is and follows, without its content. */
export interface EntryHead {
	readonly type: string;
	readonly customType: string | undefined;
	readonly id: string;
	readonly parentId: string | null;
}

/** A kind that is asked for often, as a number. */
export type KindNumber = number;

const FIRST_CAPACITY = 1024;
/** Look-ups by id that are done by searching; after that a map is worth its memory. */
const SEARCHES = 64;
const HEX_ID = /^[0-9a-f]{8}$/;

/**
 * The entries of one session as a tree of numbers: about 28 bytes each, however large the entries are.
 * Ids of 8 hex digits are kept as numbers, others as text.
 */
export class EntryTree {
	#length = 0;
	#leaf: Row = -1;
	#ids = new Uint32Array(FIRST_CAPACITY);
	#parents = new Int32Array(FIRST_CAPACITY);
	#offsets = new Float64Array(FIRST_CAPACITY);
	#lengths = new Uint32Array(FIRST_CAPACITY);
	#kinds = new Uint16Array(FIRST_CAPACITY);
	readonly #foreignIds = new Map<Row, string>();
	readonly #foreignRows = new Map<string, Row>();
	readonly #kindNumbers = new Map<string, KindNumber>();
	readonly #kindNames: string[] = [];
	readonly #besides: boolean[] = [];
	#searches = 0;
	#rows: Map<number, Row> | undefined;

	get length(): number {
		return this.#length;
	}

	/** The tip of the conversation, -1 when there is none. */
	get leaf(): Row {
		return this.#leaf;
	}

	/** Adds an entry that lies at `offset`. A parent that is unknown, because its line is broken, is the entry before. */
	add(head: EntryHead, offset: number, length: number): Row {
		const kind = this.kindNumber(entryKind(head.type, head.customType));
		const parent = head.parentId === null ? -1 : (this.rowOf(head.parentId) ?? this.#length - 1);
		if (HEX_ID.test(head.id)) return this.#push(Number.parseInt(head.id, 16), parent, kind, offset, length);
		const row = this.#push(0, parent, kind, offset, length);
		this.#foreignIds.set(row, head.id);
		this.#foreignRows.set(head.id, row);
		return row;
	}

	/** `add` for ids that are numbers already; a parent of -1 is none. */
	addHex(id: number, parentId: number, kind: KindNumber, offset: number, length: number): Row {
		const before = this.#length - 1;
		const follows = before >= 0 && this.#ids[before] === parentId && !this.#foreignIds.has(before);
		const parent = parentId < 0 ? -1 : follows ? before : (this.#find(parentId) ?? before);
		return this.#push(id, parent, kind, offset, length);
	}

	/** Gives a known entry another place: of two lines with one id the later one counts. */
	replace(row: Row, offset: number, length: number): void {
		this.#offsets[row] = offset;
		this.#lengths[row] = length;
	}

	/** Whether two entries have one id. */
	hasDuplicates(): boolean {
		if (this.#foreignRows.size < this.#foreignIds.size) return true;
		const sorted = this.#ids.slice(0, this.#length).sort();
		// Rows with other ids hold 0 here.
		return sorted.some((id, index) => index > 0 && id !== 0 && id === sorted[index - 1]);
	}

	rowOf(id: string): Row | undefined {
		return HEX_ID.test(id) ? this.#find(Number.parseInt(id, 16)) : this.#foreignRows.get(id);
	}

	idOf(row: Row): string | null {
		if (row < 0) return null;
		return this.#foreignIds.get(row) ?? this.#ids[row]!.toString(16).padStart(8, "0");
	}

	parentIdOf(row: Row): string | null {
		return this.idOf(this.#parents[row]!);
	}

	/** The number of a kind, which is made if need be. */
	kindNumber(kind: string): KindNumber {
		const known = this.#kindNumbers.get(kind);
		if (known !== undefined) return known;
		const number = this.#kindNames.push(kind) - 1;
		this.#kindNumbers.set(kind, number);
		this.#besides.push(isBookkeeping(kind));
		return number;
	}

	placeOf(row: Row): { readonly offset: number; readonly length: number } {
		return { offset: this.#offsets[row]!, length: this.#lengths[row]! };
	}

	/** Moves the tip; entries that are added from now on follow `row`. */
	moveLeaf(row: Row): void {
		this.#leaf = row;
	}

	/** The rows from the leaf back to the root, all or those of the given kinds; none before `last`. */
	*fromLeaf(kinds?: ReadonlySet<string>, last: Row = 0): Generator<Row> {
		const wanted = kinds && this.#kindNames.map((kind) => kinds.has(kind));
		if (wanted && !wanted.includes(true)) return;
		for (let row = this.#leaf; row >= last; row = this.#parents[row]!) {
			if (!wanted || wanted[this.#kinds[row]!]) yield row;
		}
	}

	#push(id: number, parent: Row, kind: KindNumber, offset: number, length: number): Row {
		if (this.#length === this.#ids.length) this.#grow();
		const row = this.#length++;
		this.#ids[row] = id;
		this.#parents[row] = parent;
		this.#offsets[row] = offset;
		this.#lengths[row] = length;
		this.#kinds[row] = kind;
		this.#rows?.set(id, row);
		if (!this.#besides[kind]) this.#leaf = row;
		return row;
	}

	#find(id: number): Row | undefined {
		if (!this.#rows && ++this.#searches > SEARCHES) {
			this.#rows = new Map();
			for (let row = 0; row < this.#length; row++) if (!this.#foreignIds.has(row)) this.#rows.set(this.#ids[row]!, row);
		}
		if (this.#rows) {
			const row = this.#rows.get(id);
			return row === undefined || this.#foreignIds.has(row) ? undefined : row;
		}
		for (let row = this.#length; row > 0; ) {
			row = this.#ids.lastIndexOf(id, row - 1);
			if (row < 0) return undefined;
			if (!this.#foreignIds.has(row)) return row;
		}
		return undefined;
	}

	#grow(): void {
		const capacity = this.#length * 2;
		const copy = <A extends Uint32Array | Int32Array | Float64Array | Uint16Array>(from: A, to: A): A => {
			to.set(from);
			return to;
		};
		this.#ids = copy(this.#ids, new Uint32Array(capacity));
		this.#parents = copy(this.#parents, new Int32Array(capacity));
		this.#offsets = copy(this.#offsets, new Float64Array(capacity));
		this.#lengths = copy(this.#lengths, new Uint32Array(capacity));
		this.#kinds = copy(this.#kinds, new Uint16Array(capacity));
	}
}
