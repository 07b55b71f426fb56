import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { splitRecords } from "./records.ts";

async function split(...chunks: string[]): Promise<string[]> {
	const records: string[] = [];
	for await (const record of splitRecords(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), 0x0a)) {
		records.push(record.toString());
	}
	return records;
}

test("records are put together across chunks and an unfinished last one is dropped", async () => {
	expect(await split("on", "e\ntwo\nth", "", "ree", "\n\nfour")).toEqual(["one", "two", "three", ""]);
});

test("a record of any length costs a megabyte at most, and the next one is whole", async () => {
	const [long, next] = await split(...Array(40).fill("x".repeat(100_000)), "\nnext\n");
	expect(long).toHaveLength(1024 * 1024);
	expect(next).toBe("next");
});
