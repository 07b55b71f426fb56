import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder, makePrivateFolder } from "./folder.ts";

function newFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "folder-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	return folder;
}

it("makes a private folder and those above it for the owner only, and leaves those that are there alone", () => {
	const folder = newFolder();
	const parts = ["open", "open/a", "open/a/b"].map((name) => join(folder, name));
	makeFolder(parts[0]!);
	makePrivateFolder(parts[2]!);
	makePrivateFolder(parts[2]!);
	const modes = parts.map((part) => (statSync(part).mode & 0o777).toString(8));
	expect(modes).toEqual([(0o777 & ~process.umask()).toString(8), "700", "700"]);
});

it("fails where a file is in the way", () => {
	const file = join(newFolder(), "file");
	writeFileSync(file, "");
	expect(() => makePrivateFolder(join(file, "below"))).toThrow("ENOTDIR");
});

it.skipIf(process.platform !== "linux")("fails and does not hang where the system makes no folders", () => {
	expect(() => makePrivateFolder("/proc/no-such-folder/below")).toThrow("ENOENT");
});
