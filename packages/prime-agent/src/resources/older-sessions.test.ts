import { link, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { findNewest, listSessions } from "./session-files.ts";

const A = "01890000-0000-7000-8000-00000000aaaa";
const B = "01890000-0000-7000-8000-00000000bbbb";
const CWD = "/home/user/project";

async function setUp() {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const folder = join(home.path, "sessions");
	const project = join(folder, "--home-user-project--");
	await mkdir(project, { recursive: true });
	const text = (id: string, cwd = CWD) => `${JSON.stringify({ type: "session", id, timestamp: "t", cwd })}\n`;
	const list = async () => (await listSessions(folder)).map(({ path }) => path.slice(folder.length + 1)).sort();
	return { folder, project, text, list };
}

it("moves the sessions of a project's folder to where all are, named like their ids, and the empty folder goes", async () => {
	const { folder, project, text, list } = await setUp();
	await writeFile(join(project, `2025-01-01_${A}.jsonl`), text(A));
	await writeFile(join(project, `2025-01-02_${B}.jsonl`), text(B));
	expect((await findNewest(folder, CWD))?.path).toMatch(new RegExp(`^${folder}/(?:${A}|${B}).jsonl$`));
	expect(await list()).toEqual([`${A}.jsonl`, `${B}.jsonl`]);
	expect(await readdir(folder)).toEqual([`${A}.jsonl`, `${B}.jsonl`]);
	expect(await readFile(join(folder, `${A}.jsonl`), "utf8")).toBe(text(A));
});

it("overwrites nothing: a session whose name is taken stays, and is listed from where it is", async () => {
	const { folder, project, text, list } = await setUp();
	await writeFile(join(folder, `${A}.jsonl`), text(A, "/home/user/new"));
	await writeFile(join(project, "old.jsonl"), text(A));
	expect(await list()).toEqual(["--home-user-project--/old.jsonl", `${A}.jsonl`]);
	expect(await readFile(join(folder, `${A}.jsonl`), "utf8")).toContain("/home/user/new");
	expect(await readFile(join(project, "old.jsonl"), "utf8")).toBe(text(A));
});

it("ends a move that was interrupted between its two steps", async () => {
	const { folder, project, text, list } = await setUp();
	await writeFile(join(project, "old.jsonl"), text(A));
	await link(join(project, "old.jsonl"), join(folder, `${A}.jsonl`));
	expect(await list()).toEqual([`${A}.jsonl`]);
	expect(await readdir(folder)).toEqual([`${A}.jsonl`]);
});

it("leaves other files and other folders alone", async () => {
	const { folder, project, text, list } = await setUp();
	await writeFile(join(project, "notes.txt"), "mine");
	await writeFile(join(project, "data.jsonl"), '{"a":1}\n');
	await writeFile(join(project, "evil.jsonl"), text("../../evil"));
	await mkdir(join(folder, "archive"));
	await writeFile(join(folder, "archive", "a.jsonl"), text(A));
	expect(await list()).toEqual(["evil.jsonl"]);
	expect(await readdir(project)).toEqual(["data.jsonl", "notes.txt"]);
	expect(await readdir(join(folder, "archive"))).toEqual(["a.jsonl"]);
});

it("lets two processes move at once without losing a session", async () => {
	const { folder, project, text } = await setUp();
	const ids = Array.from({ length: 20 }, (_, index) => `01890000-0000-7000-8000-0000000000${index + 10}`);
	for (const id of ids) await writeFile(join(project, `${id}.jsonl`), text(id));
	await Promise.all([listSessions(folder), listSessions(folder), listSessions(folder)]);
	expect((await listSessions(folder)).map(({ header }) => header.id).sort()).toEqual(ids);
	expect(await readdir(folder)).toHaveLength(20);
});
