import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../testing/folder.ts";
import { overwriteFile } from "./files.ts";
import { LocalEnvironment } from "./local.ts";

const canMount = process.getuid?.() === 0 && process.platform === "linux";

function mount(folder: string, ...args: string[]): void {
	execFileSync("mount", [...args, folder]);
	onTestFinished(() => void execFileSync("umount", [folder]));
}

/** A disk with little room, of which all but `leave` bytes are taken. */
function mountFullDisk(folder: string, leave: number, files: Record<string, string>): void {
	mkdirSync(folder);
	mount(folder, "-t", "tmpfs", "-o", "size=64k", "tmpfs");
	for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
	const { bavail, bsize } = statfsSync(folder);
	writeFileSync(join(folder, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - leave)));
}

/** Makes a file of its own mount: it can be written and not be replaced. */
function mountFile(path: string): void {
	mount(path, "--bind", path);
}

// The folder outlives the mounts in it, which end with the test.
async function makeDisk(): Promise<{ path: string; environment: LocalEnvironment }> {
	const { path } = await makeFolder();
	onTestFinished(() => rmSync(path, { recursive: true }));
	return { path, environment: new LocalEnvironment({ workingDirectory: path, variables: {} }) };
}

describe.skipIf(!canMount)("writing", () => {
	test("to a full disk fails with the reason, keeps the old content and leaves nothing behind", async () => {
		const { path, environment } = await makeDisk();
		mountFullDisk(join(path, "disk"), 0, { "a.txt": "old" });
		await expect(environment.writeFile("disk/a.txt", Buffer.alloc(20_000))).rejects.toMatchObject({
			code: "disk_full",
			message: expect.stringContaining("the disk is full"),
		});
		expect(readFileSync(join(path, "disk/a.txt"), "utf8")).toBe("old");
		expect(readdirSync(join(path, "disk")).sort()).toEqual(["a.txt", "filler"]);
	});

	test("to a file that is mounted by itself happens in place, shorter and longer", async () => {
		const { path, environment } = await makeDisk();
		writeFileSync(join(path, "a.txt"), "old content");
		mountFile(join(path, "a.txt"));
		await environment.writeFile("a.txt", Buffer.from("new"));
		expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("new");
		await environment.writeFile("a.txt", Buffer.from("longer than before"));
		expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("longer than before");
		expect(readdirSync(path)).toEqual(["a.txt"]);
	});

	test("in place on a disk that has no room for the longer content keeps the old one", async () => {
		const { path } = await makeDisk();
		mountFullDisk(join(path, "disk"), 0, { "a.txt": "old" });
		await expect(overwriteFile(join(path, "disk/a.txt"), Buffer.alloc(6000, "x"))).rejects.toThrow("ENOSPC");
		expect(readFileSync(join(path, "disk/a.txt"), "utf8")).toBe("old");
	});

	test("to a disk that is read-only fails with the reason", async () => {
		const { path, environment } = await makeDisk();
		mkdirSync(join(path, "disk"));
		mount(join(path, "disk"), "-t", "tmpfs", "-o", "ro", "tmpfs");
		await expect(environment.writeFile("disk/a.txt", Buffer.from("x"))).rejects.toMatchObject({
			code: "no_permission",
			message: expect.stringContaining("read-only"),
		});
	});
});
