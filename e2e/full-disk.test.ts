import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reply } from "@prime-agent/testkit";
import { expect, onTestFinished, test } from "vitest";
import { setUpCli } from "./cli-harness.ts";

const canMount = process.getuid?.() === 0 && process.platform === "linux";

/** A disk of its own for the sessions, which can be filled and emptied. */
function mountSmallDisk(folder: string) {
	mkdirSync(folder, { recursive: true });
	execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", folder]);
	onTestFinished(() => void execFileSync("umount", [folder]));
	const filler = join(folder, "filler");
	return {
		fill: (leave: number) => {
			const { bavail, bsize } = statfsSync(folder);
			writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leave)));
		},
		free: () => rmSync(filler),
	};
}

test.skipIf(!canMount)(
	"a full disk is said in plain words, the session stays whole, and goes on when there is space",
	async () => {
		const cli = await setUpCli();
		const sessions = join(cli.home.path, "sessions");
		const disk = mountSmallDisk(sessions);
		const prompt = (...argv: string[]) => cli.run(["--session-dir", sessions, "--model", "mock/mock", "-p", ...argv]);
		cli.server.script(reply({ text: "one" }), reply({ text: "x".repeat(40_000), chunk: 4000 }), reply({ text: "two" }));

		expect(await prompt("first")).toMatchObject({ code: 0, stdout: "one\n" });
		const [name] = readdirSync(sessions);
		const before = readFileSync(join(sessions, name!));

		disk.fill(8192);
		const full = await prompt("--continue", "tell me more");
		expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining("The disk is full") });
		const after = readFileSync(join(sessions, name!));
		expect(after.subarray(0, before.length)).toEqual(before);
		for (const line of after.toString("utf8").trimEnd().split("\n")) JSON.parse(line);

		disk.free();
		expect(await prompt("--continue", "again")).toMatchObject({ code: 0, stdout: "two\n" });
		expect(cli.server.rejections).toEqual([]);
	},
);

test.skipIf(!canMount)("a new session that finds no space at all leaves no empty file behind", async () => {
	const cli = await setUpCli();
	const sessions = join(cli.home.path, "sessions");
	const disk = mountSmallDisk(sessions);
	disk.fill(0);
	const result = await cli.run(["--session-dir", sessions, "--model", "mock/mock", "-p", "hello"]);
	expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("The disk is full") });
	expect(readdirSync(sessions).filter((name) => name.endsWith(".jsonl"))).toEqual([]);
	expect(cli.server.requests).toEqual([]);
});
