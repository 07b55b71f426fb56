import { createHash, randomBytes, randomUUID } from "node:crypto";

/** A uuid of version 7 (RFC 9562): sorts by the millisecond it was made in. */
export function createUuid(now: number): string {
	const bytes = randomBytes(16);
	bytes.writeUIntBE(now, 0, 6);
	bytes[6] = (bytes[6]! & 0x0f) | 0x70;
	bytes[8] = (bytes[8]! & 0x3f) | 0x80;
	const hex = bytes.toString("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An entry id of 8 hex digits that `taken` does not know yet. */
export function createEntryId(taken: (id: string) => boolean): string {
	for (;;) {
		// Node has uuids in stock, and their first 32 bits are random.
		const id = randomUUID().slice(0, 8);
		if (!taken(id)) return id;
	}
}

/**
 * What stands for an id in the names of files and folders: the id itself where it is plain, else its digest. An id that
 * was read somewhere may be `../..` or longer than names may be.
 */
export function fileNameOf(id: string): string {
	return /^[0-9a-z][0-9a-z._-]{0,99}$/i.test(id) ? id : createHash("sha256").update(id).digest("hex");
}
