import { chmod, lstat, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTools, type TestTools } from "../testing/tools.ts";

async function edit(content: string | Buffer, args: { old_string: string; new_string: string; replace_all?: boolean }) {
	await using at = await makeTools({ "a.txt": content });
	const answer = await at.call("edit_file", { file_path: "a.txt", ...args });
	return { ...answer, file: await readFile(join(at.folder.path, "a.txt"), "latin1") };
}

const readBack = (at: TestTools, name: string) => readFile(join(at.folder.path, name), "utf8");

test("the only occurrence is replaced and counted", async () => {
	expect(await edit("one two three\n", { old_string: "two", new_string: "2" })).toMatchObject({
		isError: false,
		text: "Made 1 replacement in a.txt.",
		file: "one 2 three\n",
	});
});

test("nothing to find, several places, empty and equal strings fail in four ways and change nothing", async () => {
	const file = "x x\nx\n";
	const results = await Promise.all([
		edit(file, { old_string: "y", new_string: "z" }),
		edit(file, { old_string: "x", new_string: "z" }),
		edit(file, { old_string: "", new_string: "z" }),
		edit(file, { old_string: "x", new_string: "x" }),
	]);
	for (const result of results) expect(result).toMatchObject({ isError: true, file });
	expect(results.map((result) => /not found|occurs 3 times|is empty|are the same/.exec(result.text)?.[0])).toEqual([
		"not found",
		"occurs 3 times",
		"is empty",
		"are the same",
	]);
});

test("every occurrence is replaced on request", async () => {
	expect(await edit("x-x-x", { old_string: "x", new_string: "yx", replace_all: true })).toMatchObject({
		text: "Made 3 replacements in a.txt.",
		file: "yx-yx-yx",
	});
});

test("signs that mean something in replacement patterns are written literally", async () => {
	expect((await edit("a\n", { old_string: "a", new_string: "$& $1 $$ \\n" })).file).toBe("$& $1 $$ \\n\n");
});

test("a final line end stays present or absent", async () => {
	expect((await edit("a\nb", { old_string: "b", new_string: "c" })).file).toBe("a\nc");
	expect((await edit("a\nb\n", { old_string: "b", new_string: "c" })).file).toBe("a\nc\n");
});

test("a file with CRLF stays one although the strings have LF", async () => {
	expect((await edit("a\r\nb\r\nc\r\n", { old_string: "a\nb", new_string: "x\ny\nz" })).file).toBe(
		"x\r\ny\r\nz\r\nc\r\n",
	);
});

test("a file with mixed line ends keeps those outside of the edit", async () => {
	expect((await edit("a\r\nb\nc\r\n", { old_string: "b\nc", new_string: "x\ny" })).file).toBe("a\r\nx\ny\r\n");
	expect((await edit("a\r\nb\nc\n", { old_string: "c", new_string: "d\ne" })).file).toBe("a\r\nb\nd\ne\n");
});

test("a byte order mark and bytes that are no UTF-8 stay", async () => {
	const bytes = Buffer.from("\xef\xbb\xbfone\ncaf\xe9\n", "latin1");
	expect((await edit(bytes, { old_string: "one", new_string: "zwölf" })).file).toBe(
		"\xef\xbb\xbfzw\xc3\xb6lf\ncaf\xe9\n",
	);
	expect((await edit(bytes, { old_string: "one ", new_string: "two" })).file).toBe("\xef\xbb\xbftwo\ncaf\xe9\n");
});

test("a text that looks like the numbered view is edited as it is", async () => {
	const file = " 1 | head\n12 | tail | x\n";
	expect((await edit(file, { old_string: "tail", new_string: "end" })).file).toBe(" 1 | head\n12 | end | x\n");
});

test("lines that differ only in white space or typographic signs are found, and the answer says so", async () => {
	const result = await edit("if (x)  \n  say(“hi”) \nend\n", {
		old_string: 'if (x)\nsay("hi")\n',
		new_string: "done\n",
	});
	expect(result).toMatchObject({ isError: false, file: "done\nend\n" });
	expect(result.text).toContain("fuzzy");
});

test("a forgiving match at two places fails as not unique", async () => {
	const file = "a \nx\na  \n";
	expect(await edit(file, { old_string: "a\n", new_string: "b\n" })).toMatchObject({ isError: true, file });
});

test("replacing every occurrence is never forgiving", async () => {
	const result = await edit("a \n", { old_string: " a", new_string: "b", replace_all: true });
	expect(result).toMatchObject({ isError: true, file: "a \n" });
});

test("the mode of the file and the link that leads to it stay", async () => {
	await using at = await makeTools({ "real/run.sh": "echo one\n" });
	const real = join(at.folder.path, "real/run.sh");
	await chmod(real, 0o750);
	await symlink("real/run.sh", join(at.folder.path, "link.sh"));
	const answer = await at.call("edit_file", { file_path: "link.sh", old_string: "one", new_string: "two" });
	expect(answer.text).toBe("Made 1 replacement in real/run.sh.");
	expect(await readBack(at, "real/run.sh")).toBe("echo two\n");
	expect((await stat(real)).mode & 0o777).toBe(0o750);
	expect((await lstat(join(at.folder.path, "link.sh"))).isSymbolicLink()).toBe(true);
});

test("edits of one file that run at the same time all apply", async () => {
	await using at = await makeTools({ "a.txt": "1 2 3 4 5 6 7 8\n" });
	await symlink("a.txt", join(at.folder.path, "b.txt"));
	const answers = await Promise.all(
		[1, 2, 3, 4, 5, 6, 7, 8].map((digit) =>
			at.call("edit_file", {
				file_path: digit % 2 ? "a.txt" : "b.txt",
				old_string: String(digit),
				new_string: `<${digit}>`,
			}),
		),
	);
	expect(answers.every((answer) => !answer.isError)).toBe(true);
	expect(await readBack(at, "a.txt")).toBe("<1> <2> <3> <4> <5> <6> <7> <8>\n");
});

test("a file is written with its folders, counted in bytes and replaced whole", async () => {
	await using at = await makeTools();
	const write = (content: string) => at.call("write_file", { file_path: "a/b/c.txt", content });
	expect(await write("é\n")).toMatchObject({ isError: false, text: "Wrote 3 bytes to a/b/c.txt." });
	await chmod(join(at.folder.path, "a/b/c.txt"), 0o600);
	await write("x");
	expect(await readBack(at, "a/b/c.txt")).toBe("x");
	expect((await stat(join(at.folder.path, "a/b/c.txt"))).mode & 0o777).toBe(0o600);
	expect((await at.call("shell", { command: "ls -A a/b" })).text).toMatch(/^c\.txt\n/);
});

test("writing to a folder fails and a special file is written in place", async () => {
	await using at = await makeTools({ "dir/x": "" });
	expect(await at.call("write_file", { file_path: "dir", content: "x" })).toMatchObject({
		isError: true,
		text: expect.stringContaining("is a directory"),
	});
	expect((await at.call("write_file", { file_path: "/dev/null", content: "x" })).isError).toBe(false);
	expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
});

test("a call names the real file that it leads to, inside and outside of the working directory", async () => {
	await using at = await makeTools({ "sub/real.txt": "" });
	await using other = await makeTools({ "target.txt": "" });
	await symlink(join(other.folder.path, "target.txt"), join(at.folder.path, "out.txt"));
	const describe = (file_path: string) => at.tools.edit_file!.describeCall({ file_path });
	expect(await describe(join(at.folder.path, "sub/../sub/real.txt"))).toBe("sub/real.txt");
	expect(await describe("out.txt")).toBe(join(other.folder.path, "target.txt"));
	expect(await describe("../new.txt")).toBe(join(at.folder.path, "../new.txt"));
	expect(await at.tools.edit_file!.describeCall({})).toBe("");
});

test("a large file is edited by exact text and patched not at all", async () => {
	await using at = await makeTools({
		"a.txt": Buffer.concat([Buffer.alloc(17_000_000, "\n"), Buffer.from("one  \n")]),
	});
	const edit = (old: string) => at.call("edit_file", { file_path: "a.txt", old_string: old, new_string: "two" });
	expect(await edit("one\n")).toMatchObject({ isError: true, text: expect.stringContaining("not found") });
	const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch";
	expect(await at.call("apply_patch", { patch })).toMatchObject({
		isError: true,
		text: expect.stringContaining("too many to patch"),
	});
	expect((await edit("one")).text).toBe("Made 1 replacement in a.txt.");
});
