import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { buildPrompt, decodeText } from "./prompt.ts";

const never = new AbortController().signal;

async function setUp(files: Record<string, string | Buffer> = {}) {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	for (const [name, content] of Object.entries(files)) await writeFile(join(home.path, name), content);
	const notes: string[] = [];
	const note = (line: string) => notes.push(line);
	const build = (parts: Partial<Parameters<typeof buildPrompt>[0]>) =>
		buildPrompt({ piped: "", files: [], words: "", cwd: home.path, signal: never, note, ...parts });
	return { cwd: home.path, build, notes };
}

it("puts what was piped in first, then the files in their order, then the words", async () => {
	const { cwd, build } = await setUp({ "b.txt": "two\n", "a.txt": "one\n" });
	expect(await build({ piped: "piped\n", files: ["b.txt", "a.txt"], words: "do it" })).toEqual({
		text: [
			"<stdin>\npiped\n</stdin>",
			`<file name="${cwd}/b.txt">\ntwo\n</file>`,
			`<file name="${cwd}/a.txt">\none\n</file>`,
			"do it",
		].join("\n\n"),
		images: [],
	});
});

it.each([
	["image/png", Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1")],
	["image/jpeg", Buffer.from("\xff\xd8\xff\xe0\0", "latin1")],
	["image/gif", Buffer.from("GIF89a\0", "latin1")],
	["image/webp", Buffer.from("RIFF\x10\0\0\0WEBPVP8 ", "latin1")],
])("sends %s by its first bytes, whatever its name", async (mimeType, bytes) => {
	const { cwd, build } = await setUp({ "picture.txt": bytes });
	expect(await build({ files: ["picture.txt"] })).toEqual({
		text: `<file name="${cwd}/picture.txt">(image)</file>`,
		images: [{ type: "image", data: bytes.toString("base64"), mimeType }],
	});
});

it("refuses files that are missing, folders, or neither text nor image", async () => {
	const { cwd, build } = await setUp({ "x.bin": Buffer.from([1, 0, 2]) });
	await mkdir(join(cwd, "folder"));
	await expect(build({ files: ["gone"], words: "x" })).rejects.toThrow(`The file @${cwd}/gone does not exist.`);
	await expect(build({ files: ["folder"], words: "x" })).rejects.toThrow(`@${cwd}/folder is a folder.`);
	await expect(build({ files: ["x.bin"], words: "x" })).rejects.toThrow("neither text nor an image");
});

it("refuses an empty prompt, also one of blanks", async () => {
	const { build } = await setUp();
	await expect(build({ piped: " \n", words: "  " })).rejects.toThrow("There is no prompt.");
});

it("takes what was piped in for the whole prompt", async () => {
	const { build } = await setUp();
	expect((await build({ piped: "do it\n" })).text).toBe("<stdin>\ndo it\n</stdin>");
});

it("tells of text that is not UTF-8, and sends what can be read of it", async () => {
	const { cwd, build, notes } = await setUp({ "old.txt": Buffer.from("caf\xe9", "latin1"), "new.txt": "café" });
	const { text } = await build({ files: ["old.txt", "new.txt"] });
	expect(text).toContain("caf\ufffd\n");
	expect(notes).toEqual([
		`Warning: The file @${cwd}/old.txt is not UTF-8; the prompt has "\ufffd" where it cannot be read.`,
	]);
	const said: string[] = [];
	expect(decodeText(Buffer.from([0x61, 0xff]), "The piped input", (line) => said.push(line))).toBe("a\ufffd");
	expect(said).toEqual([expect.stringContaining("Warning: The piped input is not UTF-8;")]);
});
