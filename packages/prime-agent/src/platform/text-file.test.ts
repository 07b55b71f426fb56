import { execFileSync } from "node:child_process";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { readTextFile } from "./text-file.ts";

async function setUp() {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	return (name: string) => join(home.path, name);
}

it("reads a file, also through a link", async () => {
	const at = await setUp();
	await writeFile(at("file"), "text é\n");
	await symlink("file", at("link"));
	expect(readTextFile(at("link"))).toBe("text é\n");
});

it.skipIf(process.platform === "win32")("refuses a device, a pipe without a writer and a folder at once", async () => {
	const at = await setUp();
	await symlink("/dev/zero", at("device"));
	execFileSync("mkfifo", [at("pipe")]);
	await mkdir(at("folder"));
	expect(() => readTextFile(at("device"))).toThrow("it is a device or a pipe, not a file");
	expect(() => readTextFile(at("pipe"))).toThrow("it is a device or a pipe, not a file");
	expect(() => readTextFile(at("folder"))).toThrow("it is a folder");
});

it("refuses a file that is larger than any text of this kind", async () => {
	const at = await setUp();
	await writeFile(at("file"), "");
	await truncate(at("file"), 4 * 1024 * 1024 + 1);
	expect(() => readTextFile(at("file"))).toThrow("it has 4194305 bytes, more than the 4194304 that are read");
});

it("keeps the system's code for a file that is missing", async () => {
	const at = await setUp();
	expect(() => readTextFile(at("gone"))).toThrow(expect.objectContaining({ code: "ENOENT" }));
});
