import { access, chmod, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTools } from "../../testing/tools.ts";

function patchOf(...lines: string[]): string {
	return ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
}

async function applyTo(content: string, ...body: string[]) {
	await using at = await makeTools({ "a.txt": content });
	const answer = await at.call("apply_patch", { patch: patchOf("*** Update File: a.txt", ...body) });
	return { ...answer, file: await readFile(join(at.folder.path, "a.txt"), "latin1") };
}

const exists = (path: string) =>
	access(path).then(
		() => true,
		() => false,
	);

test("files are added, deleted, updated and moved by one patch", async () => {
	await using at = await makeTools({ "old.txt": "x\n", "change.txt": "a\nb\n", "move.txt": "m\n" });
	const patch = patchOf(
		"*** Add File: new/deep.txt",
		"+one",
		"+",
		"+two",
		"*** Delete File: old.txt",
		"*** Update File: change.txt",
		"@@",
		" a",
		"-b",
		"+c",
		"*** Update File: move.txt",
		"*** Move to: moved/to.txt",
		"@@",
		"-m",
		"+n",
	);
	const answer = await at.call("apply_patch", { patch });
	expect(answer).toMatchObject({
		isError: false,
		text: "The patch was applied:\nA new/deep.txt\nD old.txt\nM change.txt\nD move.txt\nA moved/to.txt",
	});
	const read = (name: string) => readFile(join(at.folder.path, name), "utf8");
	expect(await read("new/deep.txt")).toBe("one\n\ntwo\n");
	expect(await read("change.txt")).toBe("a\nc\n");
	expect(await read("moved/to.txt")).toBe("n\n");
	expect(await exists(join(at.folder.path, "old.txt"))).toBe(false);
	expect(await exists(join(at.folder.path, "move.txt"))).toBe(false);
});

test("a chunk is applied with a bare @@ and, if it is the first, without any", async () => {
	expect((await applyTo("a\nb\n", "@@", "-a", "+x")).file).toBe("x\nb\n");
	expect((await applyTo("a\nb\n", "-a", "+x")).file).toBe("x\nb\n");
});

test("a further chunk without @@ fails", async () => {
	const answer = await applyTo("a\nb\n", "-a", "+x", "*** End of File", "-b", "+y");
	expect(answer).toMatchObject({ isError: true, file: "a\nb\n", text: expect.stringContaining("line 6") });
});

test("chunks only move forward, so that a second one finds the later copy", async () => {
	const answer = await applyTo("a\nx\na\nx\n", "@@", "-x", "+1", "@@", "-x", "+2");
	expect(answer.file).toBe("a\n1\na\n2\n");
});

test("a hint chooses between equal places", async () => {
	const file = "def f():\n  return 1\ndef g():\n  return 1\n";
	expect((await applyTo(file, "@@ def g():", "-  return 1", "+  return 2")).file).toBe(
		"def f():\n  return 1\ndef g():\n  return 2\n",
	);
});

test("a hint may be the line that is removed", async () => {
	expect((await applyTo("a\ndef f():\n  x\n", "@@ def f():", "-def f():", "+def g():", "   x")).file).toBe(
		"a\ndef g():\n  x\n",
	);
});

test("a hint may be a unique part of its line and may end in @@", async () => {
	const file = "class A {\n  run(x: number) {\n    go();\n";
	expect((await applyTo(file, "@@ run(x @@", "-    go();", "+    stop();")).file).toContain("stop();");
});

test("stacked hints lead to the method of the right class", async () => {
	const file = "class A\n  def m\n    1\nclass B\n  def m\n    1\n";
	expect((await applyTo(file, "@@ class B", "@@   def m", "-    1", "+    2")).file).toBe(
		"class A\n  def m\n    1\nclass B\n  def m\n    2\n",
	);
});

test("a hint that is not there fails with its text", async () => {
	const answer = await applyTo("a\n", "@@ class X", "-a", "+b");
	expect(answer).toMatchObject({ isError: true, file: "a\n", text: expect.stringContaining("class X") });
});

test("lines that differ in white space or typographic signs are found and those that stay keep their bytes", async () => {
	const file = Buffer.from("\thead “x” \n  old – one\ntail\t\n", "utf8").toString("latin1");
	const answer = await applyTo(
		Buffer.from(file, "latin1").toString("utf8"),
		"@@",
		' head "x"',
		"-old - one",
		"+new",
		" tail",
	);
	expect(answer.file).toBe(file.replace(/ {2}old[^\n]*/, "new"));
});

test("End of File takes the last of equal places", async () => {
	expect((await applyTo("a\nb\na\nb\n", "@@", "-a", "+x", " b", "*** End of File")).file).toBe("a\nb\nx\nb\n");
});

test("added lines alone go behind their hint or to the end", async () => {
	expect((await applyTo("a\nb\n", "@@ a", "+x")).file).toBe("a\nx\nb\n");
	expect((await applyTo("a\nb\n", "@@", "+x")).file).toBe("a\nb\nx\n");
	expect((await applyTo("", "@@", "+x")).file).toBe("x\n");
});

test("an empty line at the end of a chunk may be missing in the file", async () => {
	expect((await applyTo("a\nb\n", "@@", "-a", "+x", " b", " ")).file).toBe("x\nb\n");
});

test("an entirely empty line inside of a chunk is an empty line of context", async () => {
	expect((await applyTo("a\n\nb\n", "@@", " a", "", "-b", "+c")).file).toBe("a\n\nc\n");
});

test("blank lines between operations mean nothing", async () => {
	expect((await applyTo("a\nb\n", "@@", "-a", "+x", "", "@@", "-b", "+y", "", "")).file).toBe("x\ny\n");
});

test("a patch of which one part does not fit changes nothing and shows what it expected and what is there", async () => {
	await using at = await makeTools({ "a.txt": "one\n", "b.txt": "real line\n" });
	const patch = patchOf(
		"*** Update File: a.txt",
		"@@",
		"-one",
		"+two",
		"*** Add File: c.txt",
		"+x",
		"*** Update File: b.txt",
		"@@",
		"-imagined line",
		"+y",
	);
	const answer = await at.call("apply_patch", { patch });
	expect(answer.isError).toBe(true);
	expect(answer.text).toContain("imagined line");
	expect(answer.text).toContain("1 | real line");
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("one\n");
	expect(await exists(join(at.folder.path, "c.txt"))).toBe(false);
});

test("an operation sees what the ones before it did", async () => {
	await using at = await makeTools({ "a.txt": "one\n" });
	const patch = patchOf(
		"*** Update File: a.txt",
		"@@",
		"-one",
		"+two",
		"*** Update File: a.txt",
		"@@",
		"-two",
		"+three",
		"*** Delete File: a.txt",
		"*** Add File: a.txt",
		"+four",
	);
	expect((await at.call("apply_patch", { patch })).isError).toBe(false);
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("four\n");
});

test("an update of a file that an earlier operation deletes fails", async () => {
	await using at = await makeTools({ "a.txt": "one\n" });
	const patch = patchOf("*** Delete File: a.txt", "*** Update File: a.txt", "@@", "-one", "+two");
	expect((await at.call("apply_patch", { patch })).isError).toBe(true);
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("one\n");
});

test.each([
	["a here-document", (patch: string) => `apply_patch <<'EOF'\n${patch}\nEOF`],
	["a bare here-document", (patch: string) => `<<"PATCH"\n${patch}\nPATCH`],
	["a Markdown fence", (patch: string) => `\`\`\`diff\n${patch}\n\`\`\``],
	["blank lines", (patch: string) => `\n\n  ${patch}  \n\n`],
	["CRLF", (patch: string) => patch.replaceAll("\n", "\r\n")],
])("a patch inside of %s is read", async (_name, wrap) => {
	await using at = await makeTools({ "a.txt": "one\n" });
	const patch = wrap(patchOf("*** Update File: a.txt", "@@", "-one", "+two"));
	expect(await at.call("apply_patch", { patch })).toMatchObject({ isError: false });
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("two\n");
});

test.each([
	["without its first line", "*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch", /first line/],
	["without its last line", "*** Begin Patch\n*** Delete File: a.txt", /last line/],
	["with an unknown operation", patchOf("*** Rename File: a.txt"), /line 2/],
	["with a line of unknown kind", patchOf("*** Update File: a.txt", "@@", " one", "?two"), /line 5/],
	["with an added line that lacks its sign", patchOf("*** Add File: b.txt", "+one", "two"), /line 4/],
	["with an empty update", patchOf("*** Update File: a.txt"), /no chunk/],
	["with an empty chunk", patchOf("*** Update File: a.txt", "@@", "@@ x"), /without lines/],
	["without operations", patchOf(), /no files were modified/],
])("a patch %s fails with the place", async (_name, patch, message) => {
	await using at = await makeTools({ "a.txt": "one\n" });
	const answer = await at.call("apply_patch", { patch });
	expect(answer.isError).toBe(true);
	expect(answer.text).toMatch(message);
});

test("updating, deleting and moving a missing file fail", async () => {
	await using at = await makeTools();
	for (const patch of [
		patchOf("*** Update File: a.txt", "@@", "-a", "+b"),
		patchOf("*** Delete File: a.txt"),
		patchOf("*** Update File: a.txt", "*** Move to: b.txt"),
	]) {
		expect(await at.call("apply_patch", { patch })).toMatchObject({
			isError: true,
			text: expect.stringContaining("not found"),
		});
	}
});

test("a final line end stays present or missing, also where the patch reaches the end", async () => {
	expect((await applyTo("a\nb\nc", "@@", "-a", "+x")).file).toBe("x\nb\nc");
	expect((await applyTo("a\nb", "@@", "-b", "+x")).file).toBe("a\nx");
	expect((await applyTo("a\nb", "@@", " b", "+c", "*** End of File")).file).toBe("a\nb\nc");
	expect((await applyTo("a\r\nb", "@@", "-b", "+x")).file).toBe("a\r\nx");
	expect((await applyTo("a\nb\n", "@@", "-b", "+x")).file).toBe("a\nx\n");
	expect((await applyTo("", "@@", "+x")).file).toBe("x\n");
});

test("CRLF, a byte order mark and mixed line ends stay", async () => {
	expect((await applyTo("\ufeffa\r\nb\r\n", "@@", " a", "-b", "+c", "+d")).file).toBe("\xef\xbb\xbfa\r\nc\r\nd\r\n");
	expect((await applyTo("a\r\nb\nc\r\n", "@@", " a", "-b", "+x", " c")).file).toBe("a\r\nx\nc\r\n");
});

test("a file that gains nothing but looks like the numbered view is patched as it is", async () => {
	expect((await applyTo(" 1 | a\n 2 | b\n", "@@", "  1 | a", "- 2 | b", "+ 2 | c")).file).toBe(" 1 | a\n 2 | c\n");
});

test("the mode of an updated file stays, a moved link goes and leaves the file behind it", async () => {
	await using at = await makeTools({ "run.sh": "one\n" });
	await chmod(join(at.folder.path, "run.sh"), 0o755);
	await at.call("apply_patch", { patch: patchOf("*** Update File: run.sh", "@@", "-one", "+two") });
	expect((await stat(join(at.folder.path, "run.sh"))).mode & 0o777).toBe(0o755);
	await symlink("run.sh", join(at.folder.path, "link"));
	await at.call("apply_patch", { patch: patchOf("*** Delete File: link") });
	expect(await exists(join(at.folder.path, "link"))).toBe(false);
	expect(await readFile(join(at.folder.path, "run.sh"), "utf8")).toBe("two\n");
});

test("moving a file to its own place updates it", async () => {
	await using at = await makeTools({ "a.txt": "one\n" });
	const patch = patchOf("*** Update File: a.txt", "*** Move to: ./a.txt", "@@", "-one", "+two");
	expect((await at.call("apply_patch", { patch })).isError).toBe(false);
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("two\n");
});

test("a call names every real path, also moves, and the argument may be called input", async () => {
	await using at = await makeTools({ "dir/a.txt": "one\n" });
	await symlink("dir", join(at.folder.path, "link"));
	const patch = patchOf("*** Update File: link/a.txt", "*** Move to: b.txt", "*** Delete File: /tmp/../etc/x");
	const tool = at.tools.apply_patch!;
	expect(await tool.describeCall({ patch })).toBe("dir/a.txt b.txt /etc/x");
	expect(await tool.describeCall({ input: patch })).toBe("dir/a.txt b.txt /etc/x");
	expect(tool.prepareArguments?.({ input: patch })).toEqual({ patch });
});
