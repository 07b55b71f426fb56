import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { LocalEnvironment } from "../../environment/local.ts";
import { makeFolder } from "../../testing/folder.ts";
import { makeTools, readResult } from "../../testing/tools.ts";
import { PathLocks } from "../paths.ts";
import { createPatchTool } from "./tool.ts";

const patchOf = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

test("when one file cannot be written the others are as before, with their modes and links", async () => {
	await using at = await makeTools({
		"a.txt": "one\n",
		"b.sh": "b\n",
		"c.sh": "c\n",
		"file/x": "",
		"target.txt": "t\n",
	});
	await chmod(join(at.folder.path, "c.sh"), 0o750);
	await symlink("target.txt", join(at.folder.path, "link"));
	const before = (await readdir(at.folder.path)).sort();
	const patch = patchOf(
		...["*** Update File: a.txt", "@@", "-one", "+two"],
		...["*** Add File: new.txt", "+new"],
		...["*** Update File: b.sh", "*** Move to: moved.sh"],
		"*** Delete File: c.sh",
		"*** Delete File: link",
		...["*** Add File: file/x/below.txt", "+x"],
	);
	expect(await at.call("apply_patch", { patch })).toMatchObject({
		isError: true,
		text: expect.stringMatching(
			/could not be written: .*file\/x\/below\.txt: a part of the path is not a directory\. Nothing was changed\.$/,
		),
	});
	expect((await readdir(at.folder.path)).sort()).toEqual(before);
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("one\n");
	expect((await stat(join(at.folder.path, "c.sh"))).mode & 0o777).toBe(0o750);
	expect(await readlink(join(at.folder.path, "link"))).toBe("target.txt");
});

test("when a file cannot be deleted those that were deleted and written before come back", async () => {
	await using folder = await (await makeFolder()).write({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
	class Stubborn extends LocalEnvironment {
		override async renameFile(from: string, to: string): Promise<void> {
			if (basename(from) === "c.txt") throw new Error("c.txt stays");
			await super.renameFile(from, to);
		}
	}
	const environment = new Stubborn({ workingDirectory: folder.path, variables: {} });
	const patch = patchOf(
		...["*** Update File: a.txt", "@@", "-a", "+x"],
		"*** Delete File: b.txt",
		"*** Delete File: c.txt",
	);
	const tool = createPatchTool(environment, new PathLocks());
	const answer = readResult(await tool.execute("call", { patch } as never, undefined));
	expect(answer).toMatchObject({ isError: true, text: expect.stringContaining("c.txt stays. Nothing was changed.") });
	expect((await readdir(folder.path)).sort()).toEqual(["a.txt", "b.txt", "c.txt"]);
	expect(await readFile(join(folder.path, "a.txt"), "utf8")).toBe("a\n");
	expect(await readFile(join(folder.path, "b.txt"), "utf8")).toBe("b\n");
});

test("a moved file takes its mode along, also over an existing one and over several moves", async () => {
	await using at = await makeTools({ "run.sh": "one\n", "plain.txt": "old\n" });
	await chmod(join(at.folder.path, "run.sh"), 0o755);
	const patch = patchOf(
		...["*** Update File: run.sh", "*** Move to: step.sh", "@@", "-one", "+two"],
		...["*** Update File: step.sh", "*** Move to: plain.txt", "@@", "-two", "+three"],
	);
	expect((await at.call("apply_patch", { patch })).text).toBe(
		"The patch was applied:\nD run.sh\nA step.sh\nD step.sh\nM plain.txt",
	);
	expect(await readdir(at.folder.path)).toEqual(["plain.txt"]);
	expect(await readFile(join(at.folder.path, "plain.txt"), "utf8")).toBe("three\n");
	expect((await stat(join(at.folder.path, "plain.txt"))).mode & 0o777).toBe(0o755);
});

test("a file that is added and deleted again by one patch leaves nothing, one that is deleted and added is new", async () => {
	await using at = await makeTools({ "b.txt": "old\n" });
	const patch = patchOf(
		...["*** Add File: a.txt", "+x", "*** Delete File: a.txt"],
		...["*** Delete File: b.txt", "*** Add File: b.txt", "+new"],
	);
	expect((await at.call("apply_patch", { patch })).isError).toBe(false);
	expect(await readdir(at.folder.path)).toEqual(["b.txt"]);
	expect(await readFile(join(at.folder.path, "b.txt"), "utf8")).toBe("new\n");
});

test("the file behind a link that a patch deletes can be changed by the same patch", async () => {
	await using at = await makeTools({ "a.txt": "one\n" });
	await symlink("a.txt", join(at.folder.path, "link"));
	const patch = patchOf("*** Delete File: link", "*** Update File: a.txt", "@@", "-one", "+two");
	expect((await at.call("apply_patch", { patch })).isError).toBe(false);
	expect(await readdir(at.folder.path)).toEqual(["a.txt"]);
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("two\n");
});

test("a pipe and a folder in the place of a file fail before anything is written", async () => {
	await using at = await makeTools({ "a.txt": "a\n" });
	await mkdir(join(at.folder.path, "dir"));
	await at.environment.execCommand({ command: "mkfifo pipe", timeoutMs: 60_000 });
	for (const place of ["dir", "pipe"]) {
		const patch = patchOf("*** Update File: a.txt", `*** Move to: ${place}`, "@@", "-a", "+b");
		expect(await at.call("apply_patch", { patch })).toMatchObject({
			isError: true,
			text: expect.stringContaining("Nothing was changed."),
		});
	}
	expect((await lstat(join(at.folder.path, "pipe"))).isFIFO()).toBe(true);
	expect(await readFile(join(at.folder.path, "a.txt"), "utf8")).toBe("a\n");
});

/** A disk that does not tell upper from lower case, as far as file names go. */
class CaseBlind extends LocalEnvironment {
	async #find(path: string): Promise<string> {
		const full = join(this.workingDirectory(), basename(path));
		const names = await readdir(dirname(full));
		return names.find((name) => name.toLowerCase() === basename(full).toLowerCase()) ?? basename(full);
	}
	override resolvePath(path: string): Promise<string> {
		return Promise.resolve(join(this.workingDirectory(), path === "." ? "" : basename(path)));
	}
	override async stat(path: string) {
		return super.stat(path === "." ? path : await this.#find(path));
	}
	override async readFile(path: string, signal?: AbortSignal) {
		return super.readFile(await this.#find(path), signal);
	}
	override async writeFile(path: string, content: Uint8Array) {
		return super.writeFile(await this.#find(path), content);
	}
	override async deleteFile(path: string) {
		return super.deleteFile(await this.#find(path));
	}
	override async renameFile(from: string, to: string) {
		return super.renameFile(await this.#find(from), to);
	}
}

test.each([
	["a move", ["*** Update File: readme.md", "*** Move to: README.md", "@@", "-one", "+two"]],
	["adding and deleting", ["*** Add File: README.md", "+two", "*** Delete File: readme.md"]],
])("on a disk that knows no case %s that changes only the case of a name keeps the file", async (_name, lines) => {
	await using folder = await (await makeFolder()).write({ "readme.md": "one\n" });
	const tool = createPatchTool(new CaseBlind({ workingDirectory: folder.path, variables: {} }), new PathLocks());
	const answer = readResult(await tool.execute("call", { patch: patchOf(...lines) } as never, undefined));
	expect(answer.isError, answer.text).toBe(false);
	expect(await readdir(folder.path)).toEqual(["README.md"]);
	expect(await readFile(join(folder.path, "README.md"), "utf8")).toBe("two\n");
});
