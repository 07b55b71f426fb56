import { entryKind, isBookkeeping } from "../protocol/entry.ts";

/** Number of an entry in file order, from 0; -1 stands before the first entry. */
export type Row = number;

/** Where an entry lies and what it follows, without its content. */
export interface EntryHead {
	readonly type: string;
	readonly customType: string | undefined;
	readonly id: string;
	readonly parentId: string | null;
}

/** The entries of one session as a tree of numbers: a few dozen bytes each, however large the entries are. */
export class EntryTree {
	readonly #rowOfId = new Map<string, Row>();
	readonly #ids: string[] = [];
	readonly #parents: Row[] = [];
	readonly #offsets: number[] = [];
	readonly #lengths: number[] = [];
	readonly #kinds: number[] = [];
	readonly #kindNumbers = new Map<string, number>();
	readonly #kindNames: string[] = [];
	#leaf: Row = -1;

	/** Entries that were added, duplicates counted once. */
	get length(): number {
		return this.#ids.length;
	}

	/** The tip of the conversation, -1 when there is none. */
	get leaf(): Row {
		return this.#leaf;
	}

	/**
	 * Adds an entry that lies at `offset`. A known id replaces that entry's place (the later line wins). A parent that
	 * is unknown, because its line is broken, is taken to be the entry before.
	 */
	add(head: EntryHead, offset: number, length: number): Row {
		const known = this.#rowOfId.get(head.id);
		if (known !== undefined) {
			this.#offsets[known] = offset;
			this.#lengths[known] = length;
			return known;
		}
		const row = this.#ids.length;
		const parent = head.parentId === null ? -1 : (this.#rowOfId.get(head.parentId) ?? row - 1);
		this.#rowOfId.set(head.id, row);
		this.#ids.push(head.id);
		this.#parents.push(parent);
		this.#offsets.push(offset);
		this.#lengths.push(length);
		this.#kinds.push(this.#kindNumber(entryKind(head.type, head.customType)));
		if (!isBookkeeping(head.type)) this.#leaf = row;
		return row;
	}

	has(id: string): boolean {
		return this.#rowOfId.has(id);
	}

	rowOf(id: string): Row | undefined {
		return this.#rowOfId.get(id);
	}

	idOf(row: Row): string | null {
		return this.#ids[row] ?? null;
	}

	kindOf(row: Row): string {
		return this.#kindNames[this.#kinds[row]!]!;
	}

	placeOf(row: Row): { readonly offset: number; readonly length: number } {
		return { offset: this.#offsets[row]!, length: this.#lengths[row]! };
	}

	/** Moves the tip; entries that are added from now on follow `row`. */
	moveLeaf(row: Row): void {
		this.#leaf = row;
	}

	/** The rows from the leaf back to the root. */
	*fromLeaf(): Generator<Row> {
		for (let row = this.#leaf; row >= 0; row = this.#parents[row]!) yield row;
	}

	#kindNumber(kind: string): number {
		const known = this.#kindNumbers.get(kind);
		if (known !== undefined) return known;
		this.#kindNumbers.set(kind, this.#kindNames.length);
		return this.#kindNames.push(kind) - 1;
	}
}
