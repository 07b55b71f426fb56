import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTools, readResult } from "../testing/tools.ts";
import { createReadTool } from "./read.ts";

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20)]);

function countLines(count: number): string {
	return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
}

test("lines are shown behind right-aligned numbers", async () => {
	await using at = await makeTools({ "a.txt": countLines(12) });
	const { text } = await at.call("read_file", { file_path: "a.txt" });
	const lines = text.split("\n");
	expect(lines).toHaveLength(12);
	expect([lines[0], lines[8], lines[11]]).toEqual([" 1 | line 1", " 9 | line 9", "12 | line 12"]);
});

test("offset and limit choose lines and the note says where to go on", async () => {
	await using at = await makeTools({ "a.txt": countLines(12) });
	expect(await at.call("read_file", { file_path: "a.txt", offset: 3, limit: 2 })).toEqual({
		text: "3 | line 3\n4 | line 4\n[8 more lines; go on with offset 5]",
		isError: false,
		images: [],
	});
	expect((await at.call("read_file", { file_path: "a.txt", offset: -4, limit: 1 })).text).toMatch(/^1 \| line 1\n/);
	expect((await at.call("read_file", { file_path: "a.txt", offset: 12 })).text).toBe("12 | line 12");
});

test("2,000 lines are shown unless a limit is given", async () => {
	await using at = await makeTools({ "a.txt": countLines(2500) });
	const { text } = await at.call("read_file", { file_path: "a.txt" });
	expect(text.split("\n").slice(-2)).toEqual(["2000 | line 2000", "[500 more lines; go on with offset 2001]"]);
});

test("an offset past the end fails with the number of lines", async () => {
	await using at = await makeTools({ "a.txt": countLines(3) });
	const answer = await at.call("read_file", { file_path: "a.txt", offset: 9 });
	expect(answer.isError).toBe(true);
	expect(answer.text).toContain("3 lines");
});

test("folders, missing files and binary files fail in three ways", async () => {
	await using at = await makeTools({ "dir/x": "", "b.bin": Buffer.from([1, 0, 2]) });
	const read = (file_path: string) => at.call("read_file", { file_path });
	expect(await read("dir")).toMatchObject({ isError: true, text: expect.stringContaining("is a directory") });
	expect(await read("nowhere")).toMatchObject({ isError: true, text: expect.stringContaining("not found") });
	expect(await read("b.bin")).toMatchObject({ isError: true, text: expect.stringContaining("binary file of 3 bytes") });
});

// Root may read everything.
test.skipIf(process.getuid?.() === 0)("a file that may not be read fails with the reason", async () => {
	await using at = await makeTools({ "closed.txt": "x\n" });
	await chmod(join(at.folder.path, "closed.txt"), 0);
	expect(await at.call("read_file", { file_path: "closed.txt" })).toMatchObject({
		isError: true,
		text: expect.stringContaining("permission denied"),
	});
});

test("an empty file gives a note and no failure", async () => {
	await using at = await makeTools({ "a.txt": "" });
	expect(await at.call("read_file", { file_path: "a.txt" })).toMatchObject({
		isError: false,
		text: "[a.txt is empty]",
	});
});

test("line ends with CR and a byte order mark are left out of the view", async () => {
	await using at = await makeTools({ "a.txt": "\ufeffone\r\ntwo\r\n" });
	expect((await at.call("read_file", { file_path: "a.txt" })).text).toBe("1 | one\n2 | two");
});

test("text in another encoding is shown and not taken for a binary file", async () => {
	await using at = await makeTools({ "a.txt": Buffer.from("caf\xe9 cr\xe8me\n", "latin1") });
	expect((await at.call("read_file", { file_path: "a.txt" })).text).toBe("1 | caf\\xe9 cr\\xe8me");
});

test("an image is recognised by its bytes and shown with its media type", async () => {
	await using at = await makeTools({ "picture.dat": png });
	const answer = await at.call("read_file", { file_path: "picture.dat" });
	expect(answer.isError).toBe(false);
	expect(answer.images).toEqual([{ data: png.toString("base64"), mimeType: "image/png" }]);
});

test("a model that cannot see gets a sentence in place of an image", async () => {
	await using at = await makeTools({ "a.png": png });
	const tool = createReadTool(at.environment, false);
	const answer = readResult(await tool.execute("call", { file_path: "a.png" } as never, undefined));
	expect(answer).toMatchObject({ isError: true, images: [], text: expect.stringContaining("cannot see images") });
});

test("an image of more than 5 MB in base64 is refused", async () => {
	await using at = await makeTools({ "a.png": Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024)]) });
	expect(await at.call("read_file", { file_path: "a.png" })).toMatchObject({ isError: true, images: [] });
});

test("several files are shown in sections and a failing one fails alone", async () => {
	await using at = await makeTools({ "a.txt": "one\n", "p.png": png });
	const some = await at.call("read_many_files", { paths: ["a.txt", "nowhere", "p.png"] });
	expect(some.isError).toBe(false);
	expect(some.text).toContain("=== a.txt ===\n1 | one");
	expect(some.text).toContain("=== nowhere ===\n[error: nowhere: not found]");
	expect(some.images).toHaveLength(1);
	expect((await at.call("read_many_files", { paths: ["nowhere"] })).isError).toBe(true);
	expect((await at.call("read_many_files", { paths: Array(51).fill("a.txt") })).isError).toBe(true);
});

test("a folder is listed by name down to the asked depth without following links", async () => {
	await using at = await makeTools({ "b.txt": "", "a/x/deep.txt": "", "a/y.txt": "" });
	await at.call("shell", { command: "ln -s . a/loop" });
	expect((await at.call("list_dir", { path: "." })).text).toBe("a/\nb.txt");
	expect((await at.call("list_dir", { path: ".", depth: 3 })).text).toBe(
		"a/\na/loop\na/x/\na/x/deep.txt\na/y.txt\nb.txt",
	);
	expect((await at.call("list_dir", { path: "b.txt" })).isError).toBe(true);
});

test("a large file of short lines and a part of one with huge lines are shown without reading all of it as text", async () => {
	await using at = await makeTools({
		"short.txt": Buffer.alloc(30_000_000, "\n"),
		"long.txt": Buffer.concat([Buffer.alloc(40_000_000, "x"), Buffer.from("\nsecond\n")]),
	});
	expect((await at.call("read_file", { file_path: "short.txt", offset: 29_999_999 })).text).toBe(
		"29999999 | \n30000000 | ",
	);
	expect((await at.call("read_file", { file_path: "long.txt", offset: 2 })).text).toBe("2 | second");
	const whole = await at.call("read_file", { file_path: "long.txt" });
	expect(whole).toMatchObject({ isError: true, text: expect.stringContaining("have 40000007 bytes, too many") });
});
