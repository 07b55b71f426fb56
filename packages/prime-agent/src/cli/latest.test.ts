import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { askForSession } from "./latest.ts";

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const idOf = (end: string) => `01890000-0000-7000-8000-${end.padStart(12, "0")}`;

async function setUp() {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const folder = join(home.path, "sessions");
	const cwd = join(home.path, "work");
	for (const path of [folder, cwd]) await mkdir(path);
	const save = async (id: string, age: number, content: unknown, options: { cwd?: string; name?: string } = {}) => {
		const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: options.cwd ?? cwd };
		const entries = [
			{ type: "model_change", id: "0000000a", parentId: null },
			{ type: "message", id: "0000000b", parentId: null, message: { role: "user", content } },
			{ type: "message", id: "0000000c", parentId: "0000000b", message: { role: "user", content: "a later one" } },
		];
		const path = join(folder, `${options.name ?? id}.jsonl`);
		await writeFile(path, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""));
		await utimes(path, (NOW - age) / 1000, (NOW - age) / 1000);
		return path;
	};
	return { cwd, save, ask: async () => (await askForSession(folder, cwd, NOW)).message.split("\n") };
}

it("lists the five latest sessions of the folder with the end of the id, the age and the first prompt", async () => {
	const { cwd, save, ask } = await setUp();
	await save(idOf("1"), 30_000, "now");
	await save(idOf("2"), MINUTE, [{ type: "text", text: "in blocks" }, { type: "image" }]);
	await save(idOf("3"), 59 * MINUTE, "minutes");
	await save(idOf("4"), 60 * MINUTE, "hour");
	await save(idOf("5"), 49 * 60 * MINUTE, "days");
	await save(idOf("6"), 99 * 60 * MINUTE, "one too many");
	await save(idOf("7"), 0, "elsewhere", { cwd: "/elsewhere" });
	expect(await ask()).toEqual([
		`Name the session that --resume goes on with; --continue takes the newest. The latest of ${cwd}:`,
		"  000000000001  just now  now",
		"  000000000002  1 minute ago  in blocks",
		"  000000000003  59 minutes ago  minutes",
		"  000000000004  1 hour ago  hour",
		"  000000000005  2 days ago  days",
	]);
});

it("shows a prompt in one line of harmless text, cut where it is long", async () => {
	const { save, ask } = await setUp();
	await save(idOf("1"), 0, `\u001b[2J\u001b]0;evil\u0007one\n\n  two\u2028three\r\u0000 ${"😀".repeat(80)}`);
	const [, line, ...rest] = await ask();
	expect(rest).toEqual([]);
	expect(line).toBe(`  000000000001  just now  one two three ${"😀".repeat(45)}…`);
});

it("names the file where the end of an id is that of two sessions, or nothing to type", async () => {
	const { save, ask } = await setUp();
	const copy = await save(idOf("1"), 0, "copy", { name: "copy" });
	const first = await save(idOf("1"), MINUTE, "first");
	const odd = await save("\u001b[2J", 2 * MINUTE, "odd", { name: "odd" });
	expect((await ask()).slice(1)).toEqual([
		`  ${copy}  just now  copy`,
		`  ${first}  1 minute ago  first`,
		`  ${odd}  2 minutes ago  odd`,
	]);
});

it("lists a session whose first prompt is too far away to be looked for", async () => {
	const { save, ask } = await setUp();
	await save(idOf("1"), 0, "x".repeat(2 * 1024 * 1024));
	expect(await ask()).toContain("  000000000001  just now  (its first prompt cannot be read)");
});

it("says that there is nothing to resume in a folder without sessions", async () => {
	const { cwd, save, ask } = await setUp();
	await save(idOf("1"), 0, "elsewhere", { cwd: "/elsewhere" });
	expect(await ask()).toEqual([`There is no session of ${cwd} to resume. Start one without --resume.`]);
});
