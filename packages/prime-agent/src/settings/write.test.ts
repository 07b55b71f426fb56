import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { runProcess, startProcess, tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { acquireLease } from "../platform/lease.ts";
import { writeSettings } from "./write.ts";

/** A process that writes `count` settings one after the other and says each one that is written. */
const WRITER = `
import { writeSettings } from ${JSON.stringify(resolve(import.meta.dirname, "write.ts"))};
const [path, prefix, count] = process.argv.slice(1);
for (let index = 0; index < Number(count); index++) {
	await writeSettings(path, { [prefix + ".n" + index]: index });
	process.stdout.write(index + "\\n");
}`;
const writerArguments = (path: string, prefix: string, count: number) => [
	...["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", WRITER],
	...[path, prefix, String(count)],
];

async function setUp(content?: string) {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const folder = join(home.path, "agent");
	const path = join(folder, "settings.json");
	if (content !== undefined) {
		await mkdir(folder);
		await writeFile(path, content);
	}
	const read = async () => JSON.parse(await readFile(path, "utf8"));
	return { home, folder, path, read };
}

it("changes single settings, keeps all others, and removes what is undefined", async () => {
	const { path, read } = await setUp('{"theme":"dark","retry":{"enabled":true,"maxRetries":5},"mine":[1]}');
	await writeSettings(path, { "retry.enabled": false, theme: undefined, "compaction.reserveTokens": 9 });
	expect(await read()).toEqual({
		retry: { enabled: false, maxRetries: 5 },
		mine: [1],
		compaction: { reserveTokens: 9 },
	});
});

it("makes file and folder for the owner only, and leaves nothing else behind", async () => {
	const { path, folder, read } = await setUp();
	await writeSettings(path, { defaultModel: "m" });
	expect(await read()).toEqual({ defaultModel: "m" });
	expect((await stat(path)).mode & 0o777).toBe(0o600);
	expect((await stat(folder)).mode & 0o777).toBe(0o700);
	expect(await readdir(folder)).toEqual(["settings.json"]);
});

it("writes to where a link leads, with the mode that the file has", async () => {
	const { path, home, folder, read } = await setUp();
	const real = join(home.path, "dotfiles.json");
	await writeFile(real, '{"a":1}');
	await chmod(real, 0o640);
	await mkdir(folder);
	await symlink(real, path);
	await writeSettings(path, { b: 2 });
	expect(JSON.parse(await readFile(real, "utf8"))).toEqual({ a: 1, b: 2 });
	expect(await read()).toEqual({ a: 1, b: 2 });
	expect((await stat(real)).mode & 0o777).toBe(0o640);
});

it.each(["{ broken", "[]", ""])("does not touch a file that holds %j, and says so (S17)", async (content) => {
	const { path, folder } = await setUp(content);
	await expect(writeSettings(path, { a: 1 })).rejects.toMatchObject({
		code: "broken",
		message: expect.stringContaining(`${path} is not changed`),
	});
	expect(await readFile(path, "utf8")).toBe(content);
	expect(await readdir(folder)).toEqual(["settings.json"]);
});

it("stops waiting for another writer when it is told to", async () => {
	const { path, folder } = await setUp("{}");
	const lease = acquireLease(folder, "settings.lock");
	onTestFinished(() => lease.release());
	const leave = new AbortController();
	const writing = writeSettings(path, { a: 1 }, leave.signal);
	leave.abort(new Error("never mind"));
	await expect(writing).rejects.toThrow(/never mind|aborted/);
	expect(await readFile(path, "utf8")).toBe("{}");
});

it("takes no prototype from a path", async () => {
	const { path } = await setUp("{}");
	await writeSettings(path, { "__proto__.polluted": true });
	expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it("loses nothing when three processes write the same file at once, which does not exist yet (S17)", async () => {
	const { path, read } = await setUp();
	const names = ["a", "b", "c"];
	const results = await Promise.all(names.map((name) => runProcess(process.execPath, writerArguments(path, name, 20))));
	for (const result of results) expect(result).toMatchObject({ code: 0, stderr: "" });
	const all = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, index]));
	expect(await read()).toEqual({ a: all, b: all, c: all });
});

it("has every setting that was said to be written when a process is killed in the middle of it (S17)", async () => {
	const { path, read, folder } = await setUp('{"mine":true}');
	for (let round = 0; round < 8; round++) {
		const writer = startProcess(process.execPath, writerArguments(path, `r${round}`, 100_000));
		await writer.waitForOutput(new RegExp(`^${round * 3}$`, "m"));
		writer.kill("SIGKILL");
		const { stdout } = await writer.done;
		const values = await read();
		const said = stdout.trimEnd().split("\n").map(Number);
		expect(values.mine).toBe(true);
		for (const index of said) expect(values[`r${round}`][`n${index}`]).toBe(index);
	}
	await writeSettings(path, { last: 1 });
	expect((await readdir(folder)).sort()).toEqual(["settings.json"]);
}, 120_000);
