import { existsSync } from "node:fs";
import { chmod, lstat, readFile, readlink, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, type TestFolder } from "../testing/folder.ts";
import { fileError } from "./files.ts";
import { LocalEnvironment } from "./local.ts";

const makeEnvironment = (folder: TestFolder) =>
	new LocalEnvironment({ workingDirectory: folder.path, variables: { PATH: process.env.PATH } });
const bytes = (text: string) => Buffer.from(text);

test("writing through a link changes the file behind it and keeps the link", async () => {
	await using folder = await makeFolder();
	await folder.write({ "real.txt": "old" });
	await symlink("real.txt", join(folder.path, "link.txt"));
	await makeEnvironment(folder).writeFile("link.txt", bytes("new"));
	expect(await readFile(join(folder.path, "real.txt"), "utf8")).toBe("new");
	expect(await readlink(join(folder.path, "link.txt"))).toBe("real.txt");
});

test("writing through a link that leads nowhere makes the file that it names", async () => {
	await using folder = await makeFolder();
	await symlink("later/real.txt", join(folder.path, "link.txt"));
	await symlink("link.txt", join(folder.path, "outer"));
	const environment = makeEnvironment(folder);
	expect(await environment.resolvePath("outer")).toBe(join(folder.path, "later/real.txt"));
	await environment.writeFile("outer", bytes("new"));
	expect(await readFile(join(folder.path, "later/real.txt"), "utf8")).toBe("new");
	expect(await readlink(join(folder.path, "link.txt"))).toBe("later/real.txt");
});

test("a path below a link that leads nowhere is resolved to where the link leads", async () => {
	await using folder = await makeFolder();
	await symlink("../elsewhere", join(folder.path, "link"));
	expect(await makeEnvironment(folder).resolvePath("link/x")).toBe(join(folder.path, "../elsewhere/x"));
	for (const [name, target] of ["ab", "ba"]) await symlink(`${target}/x`, join(folder.path, name!));
	await expect(makeEnvironment(folder).resolvePath("a")).rejects.toThrow(join(folder.path, "a"));
});

test("deleting removes a link and not the file behind it, and refuses folders", async () => {
	await using folder = await makeFolder();
	await folder.write({ "real.txt": "old", "dir/x": "" });
	await symlink("real.txt", join(folder.path, "link.txt"));
	const environment = makeEnvironment(folder);
	await environment.deleteFile("link.txt");
	expect(await readFile(join(folder.path, "real.txt"), "utf8")).toBe("old");
	await expect(environment.deleteFile("dir")).rejects.toMatchObject({ code: "is_directory" });
	await expect(environment.deleteFile("none")).rejects.toMatchObject({ code: "not_found" });
});

test("a new file has the usual mode and an old one keeps its own", async () => {
	await using folder = await makeFolder();
	await folder.write({ "old.txt": "" });
	await chmod(join(folder.path, "old.txt"), 0o4711);
	const environment = makeEnvironment(folder);
	await environment.writeFile("old.txt", bytes("x"));
	await environment.writeFile("new.txt", bytes("x"));
	expect((await stat(join(folder.path, "old.txt"))).mode & 0o7777).toBe(0o4711);
	expect((await stat(join(folder.path, "new.txt"))).mode & 0o7777).toBe(0o666 & ~process.umask());
});

test.skipIf(process.getuid?.() === 0)("a file that may not be written stays although its folder may", async () => {
	await using folder = await makeFolder();
	await folder.write({ "a.txt": "old" });
	await chmod(join(folder.path, "a.txt"), 0o444);
	await expect(makeEnvironment(folder).writeFile("a.txt", bytes("new"))).rejects.toMatchObject({
		code: "no_permission",
	});
	expect(await readFile(join(folder.path, "a.txt"), "utf8")).toBe("old");
});

test("paths are resolved through links and .., also where nothing exists yet", async () => {
	await using folder = await makeFolder();
	await folder.write({ "a/b/x": "" });
	await symlink("a/b", join(folder.path, "link"));
	const environment = makeEnvironment(folder);
	expect(await environment.resolvePath("link/new/file")).toBe(join(folder.path, "a/b/new/file"));
	expect(await environment.resolvePath("a/../a/b/x")).toBe(join(folder.path, "a/b/x"));
	expect(await environment.resolvePath("/")).toBe("/");
});

test("a path through a file and a loop of links fail with the path", async () => {
	await using folder = await makeFolder();
	await folder.write({ file: "" });
	await symlink("loop", join(folder.path, "loop"));
	const environment = makeEnvironment(folder);
	await expect(environment.readFile("file/x")).rejects.toMatchObject({ code: "not_directory" });
	await expect(environment.readFile("loop")).rejects.toThrow(/loop/);
	await expect(environment.resolvePath("loop")).rejects.toThrow(/loop/);
});

test("devices and pipes are not read and pipes not written, because that may never end", async () => {
	await using folder = await makeFolder();
	const environment = makeEnvironment(folder);
	await environment.execCommand({ command: "mkfifo pipe", timeoutMs: 60_000 });
	await expect(environment.readFile("/dev/zero")).rejects.toThrow("not a regular file");
	await expect(environment.readFile("pipe")).rejects.toThrow("not a regular file");
	await expect(environment.writeFile("pipe", bytes("x"))).rejects.toThrow("not a regular file");
});

test.skipIf(process.platform !== "linux")(
	"a folder that the system will not make is an error and no hang",
	async () => {
		await using folder = await makeFolder();
		const write = makeEnvironment(folder).writeFile("/proc/no-such-folder/below/x", bytes("x"));
		await expect(write).rejects.toMatchObject({ code: "not_found" });
	},
);

test("many files written at once below one new folder are all there", async () => {
	await using folder = await makeFolder();
	const environment = makeEnvironment(folder);
	const names = Array.from({ length: 20 }, (_, index) => `new/deep/${index % 3}/${index}.txt`);
	await Promise.all(names.map((name) => environment.writeFile(name, bytes(name))));
	for (const name of names) expect(Buffer.from(await environment.readFile(name)).toString()).toBe(name);
});

test("an environment at another folder sees the same machine from there and ends with the first one", async () => {
	await using folder = await makeFolder();
	await folder.write({ "sub/x.txt": "deep" });
	const environment = makeEnvironment(folder);
	const below = environment.at("sub");
	expect(Buffer.from(await below.readFile("x.txt")).toString()).toBe("deep");
	const { stdout } = await below.execCommand({ command: "sleep 600 & echo $!", timeoutMs: 60_000 });
	await environment.cleanup();
	const isGone = async () => {
		const state = await readFile(`/proc/${stdout.trim()}/stat`, "utf8").catch(() => ") Z");
		return /\) Z/.test(state);
	};
	await expect.poll(isGone, { timeout: 20_000 }).toBe(true);
	expect((await lstat(folder.path)).isDirectory()).toBe(true);
});

test.each([
	["EACCES", "no_permission", "/x: permission denied"],
	["EROFS", "no_permission", "/x: the file system is read-only"],
	["ENOSPC", "disk_full", "/x: the disk is full"],
	["EISDIR", "is_directory", "/x: is a directory"],
	["EIO", "failed", "/x: it broke"],
])("the system's error %s is told as %s with the path", (systemCode, code, message) => {
	const error = fileError(Object.assign(new Error("it broke"), { code: systemCode }), "/x");
	expect(error).toMatchObject({ code, message, cause: expect.any(Error) });
});

// Only root may read it.
test.skipIf(process.getuid?.() !== 0 || !existsSync("/proc/kmsg"))(
	"a file that waits for more without end is read as far as it goes, or refused",
	async () => {
		await using folder = await makeFolder();
		const read = makeEnvironment(folder).readFile("/proc/kmsg");
		await expect(read).rejects.toThrow(/gives nothing now|permission denied/);
	},
);
