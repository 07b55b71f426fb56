import { expect, test } from "vitest";
import { type LineSource, readMessage, readSession } from "./reading.ts";

/** Lines in memory, given out as if the file could only be read in pieces. */
function sourceOf(text: string): LineSource {
	const bytes = Buffer.from(text);
	return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

const message = (id: string, parentId: string | null, content: string) =>
	JSON.stringify({ type: "message", id, parentId, timestamp: "t", message: { role: "user", content, timestamp: 1 } });

test("lines longer than what is read at once, and lines across its border, are found at their places", () => {
	const long = "x".repeat(300 * 1024);
	const lines = [
		message("00000001", null, "a"),
		message("00000002", "00000001", long),
		message("00000003", "00000002", "é".repeat(100_000)),
		message("00000004", "00000003", "b"),
	];
	const text = `${lines.join("\n")}\n`;
	const { tree, broken } = readSession(sourceOf(text));
	expect(broken).toEqual([]);
	const bytes = Buffer.from(text);
	const found = [...tree.fromLeaf()].reverse().map((row) => {
		const { offset, length } = tree.placeOf(row);
		return bytes.subarray(offset, offset + length).toString("utf8");
	});
	expect(found).toEqual(lines);
});

test("ids that are no hex digits and ids that are live side by side, also when the number of a hex id is zero", () => {
	const text = [
		message("00000000", null, "a"),
		message("hello", "00000000", "b"),
		message("0000000g", "hello", "c"),
		message("00000001", "0000000g", "d"),
	].join("\n");
	const { tree } = readSession(sourceOf(`${text}\n`));
	expect([...tree.fromLeaf()].map((row) => tree.idOf(row))).toEqual(["00000001", "0000000g", "hello", "00000000"]);
	expect(tree.rowOf("00000000")).toBe(0);
	expect(tree.rowOf("0000000a")).toBeUndefined();
});

test("many branches are found although parents lie far back", () => {
	const lines = [message("00000001", null, "root")];
	for (let n = 2; n < 500; n++) lines.push(message(n.toString(16).padStart(8, "0"), "00000001", "branch"));
	const { tree } = readSession(sourceOf(`${lines.join("\n")}\n`));
	expect([...tree.fromLeaf()].map((row) => tree.idOf(row))).toEqual(["000001f3", "00000001"]);
	expect(tree.rowOf("00000100")).toBe(255);
});

test("a head in upper case, with blanks or with an escaped id takes the slow way to the same result", () => {
	const text = [
		'{"type": "message", "id": "00000001", "parentId": null, "timestamp": "t", "message": {}}',
		'{"type":"message","id":"0000000A","parentId":"00000001","timestamp":"t","message":{}}',
		'{"type":"message","id":"\\u0030000000b","parentId":"0000000A","timestamp":"t","message":{}}',
	].join("\n");
	const { tree, broken } = readSession(sourceOf(`${text}\n`));
	expect(broken).toEqual([]);
	expect([...tree.fromLeaf()].map((row) => tree.idOf(row))).toEqual(["0000000b", "0000000A", "00000001"]);
});

const time = "2026-01-01T00:00:00.000Z";
const said = { role: "user", content: 'ends with "}} and é\u2028', timestamp: 1 };
const base = { type: "message", id: "0000000a", parentId: "00000009", timestamp: time, message: said };

test.each([
	["an entry", base],
	["the first entry", { ...base, parentId: null }],
	["a message that is no object", { ...base, message: 7 }],
])("readMessage gives the message of %s without what stands around it", (_name, entry) => {
	expect(readMessage(JSON.stringify(entry))).toEqual(entry.message);
});

test.each([
	["another field after the message", JSON.stringify({ ...base, extra: 1 })],
	["a second message", JSON.stringify(base).replace(/}$/, ',"message":{"role":"assistant"}}')],
	["another order of fields", JSON.stringify({ message: said, type: "message", id: base.id, parentId: null })],
	["a longer id", JSON.stringify({ ...base, id: "0000000a0" })],
	["a longer id of the parent", JSON.stringify({ ...base, parentId: "000000090" })],
	["a time of another width", JSON.stringify({ ...base, timestamp: "2026-01-01" })],
	["another kind", JSON.stringify({ ...base, type: "massage" })],
	["blanks between the fields", JSON.stringify(base, undefined, 1).replaceAll("\n", "")],
	["a broken end", JSON.stringify(base).slice(0, -2)],
	["next to nothing", "{}"],
])("readMessage leaves a line with %s to the parser of whole lines", (_name, line) => {
	expect(readMessage(line)).toBeUndefined();
});
