import { execFileSync } from "node:child_process";
import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { findNewest, listSessions, sessionFolder } from "./session-files.ts";
import { resolveSession } from "./session-selector.ts";

const A = "01890000-0000-7000-8000-00000000aaaa";
const B = "01890000-0000-7000-8000-00000000bbbb";

async function setUp() {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const folder = join(home.path, "sessions");
	const cwd = join(home.path, "work");
	await mkdir(folder);
	await mkdir(cwd);
	const save = async (id: string, options: { cwd?: string; age?: number; text?: string } = {}) => {
		const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: options.cwd ?? cwd };
		const path = join(folder, `${id}.jsonl`);
		await writeFile(path, options.text ?? `${JSON.stringify(header)}\n{"type":"message"}\n`);
		const time = 1_700_000_000 - (options.age ?? 0);
		await utimes(path, time, time);
		return path;
	};
	const resolve = (selector: string) => resolveSession(selector, folder, cwd, { HOME: home.path });
	return { folder, cwd, root: home.path, save, resolve };
}

it("lists sessions newest first and leaves out what is none", async () => {
	const { folder, save } = await setUp();
	await save(A, { age: 10 });
	await save(B);
	await save("broken", { text: "{ not json" });
	await save("empty", { text: "" });
	await save("other", { text: '{"type":"message"}\n' });
	await save("endless", { text: "x".repeat(200_000) });
	await mkdir(join(folder, "folder.jsonl"));
	await symlink(join(folder, "gone"), join(folder, "dangling.jsonl"));
	expect((await listSessions(folder)).map(({ header }) => header.id)).toEqual([B, A]);
});

it("lists nothing where there is no folder", async () => {
	expect(await listSessions("/nonexistent/sessions")).toEqual([]);
});

it("reads a header that is longer than one read", async () => {
	const { folder, save } = await setUp();
	const header = { type: "session", id: A, timestamp: "t", cwd: "/x", extra: "é".repeat(9_000) };
	await save(A, { text: `${JSON.stringify(header)}\n` });
	expect((await listSessions(folder))[0]?.header).toEqual({ id: A, timestamp: "t", cwd: "/x" });
});

it.skipIf(process.platform !== "linux")(
	"lists a session that cannot be read, so that opening it tells why",
	async () => {
		const { folder, resolve } = await setUp();
		const path = join(folder, `${A}.jsonl`);
		// Reading the beginning of this file fails with EIO, whoever reads.
		await symlink("/proc/self/mem", path);
		expect((await listSessions(folder)).map(({ header }) => header)).toEqual([
			{ id: A, timestamp: "", cwd: undefined },
		]);
		expect((await resolve(path)).path).toBe(path);
		expect((await resolve(A)).path).toBe(path);
	},
);

it("lists a session whose first line a crash damaged", async () => {
	const { folder, save, resolve } = await setUp();
	const entry = '{"type":"message","id":"aaaaaaaa","parentId":null}\n';
	const header = `${JSON.stringify({ type: "session", id: A, timestamp: "t", cwd: "/x" })}\n`;
	const listed = async () => (await listSessions(folder)).map(({ header: { id, cwd } }) => ({ id, cwd }));
	for (const before of ['{"type":"session","vers', '{"type":"session","vers\n', `${"\0".repeat(512)}\n`]) {
		await save(A, { text: before + header + entry });
		expect(await listed()).toEqual([{ id: A, cwd: "/x" }]);
	}
	await save(A, { text: `{"type":"session","vers\n${entry}` });
	expect(await listed()).toEqual([{ id: A, cwd: undefined }]);
	expect((await resolve("aaaa")).header.id).toBe(A);
});

it("finds the newest session of a folder, also through a link to it", async () => {
	const { folder, cwd, root, save } = await setUp();
	const path = await save(A, { age: 10 });
	await save(B, { cwd: "/elsewhere" });
	expect((await findNewest(folder, cwd))?.path).toBe(path);
	await symlink(cwd, join(root, "link"));
	expect((await findNewest(folder, join(root, "link")))?.path).toBe(path);
	expect(await findNewest(folder, root)).toBeUndefined();
});

it("looks for sessions where the flag says, then the environment, the settings, the agent folder", () => {
	const where = (options: Partial<Parameters<typeof sessionFolder>[0]>) =>
		sessionFolder({ agentFolder: "/agent", cwd: "/home/user/project", env: {}, ...options });
	const env = { HOME: "/home/user", PRIME_AGENT_SESSION_DIR: "~/s", PRIME_AGENT_CODING_AGENT_SESSION_DIR: "/old" };
	expect(where({ flag: "here", env, settings: "/set" })).toBe("/home/user/project/here");
	expect(where({ env, settings: "/set" })).toBe("/home/user/s");
	expect(where({ env: { PRIME_AGENT_CODING_AGENT_SESSION_DIR: "/old" }, settings: "/set" })).toBe("/old");
	expect(where({ settings: "/set" })).toBe("/set");
	expect(where({})).toBe("/agent/sessions");
});

it("resolves a path, an id in any spelling, and a beginning or end of an id", async () => {
	const { cwd, save, resolve } = await setUp();
	const path = await save(A);
	await save(B);
	for (const selector of [path, A, A.toUpperCase(), A.replaceAll("-", ""), "aaaa", "00000000aaaa"]) {
		expect((await resolve(selector)).path, selector).toBe(path);
	}
	await writeFile(join(cwd, "x.jsonl"), `${JSON.stringify({ type: "session", id: "x", timestamp: "t", cwd })}\n`);
	expect((await resolve("x.jsonl")).path).toBe(join(cwd, "x.jsonl"));
});

it("prefers a session of this folder to those of others", async () => {
	const { save, resolve } = await setUp();
	const here = await save("01890000-0000-7000-8000-000000001234");
	await save("01890000-0000-7000-8000-999999991234", { cwd: "/elsewhere" });
	expect((await resolve("1234")).path).toBe(here);
});

it("prefers a whole id to a part of another one", async () => {
	const { save, resolve } = await setUp();
	const whole = await save("abcd", { cwd: "/elsewhere" });
	await save("abcd1111");
	expect((await resolve("abcd")).path).toBe(whole);
});

it("lists the sessions that a selector could mean instead of picking one", async () => {
	const { cwd, save, resolve } = await setUp();
	await save(A);
	await save(B);
	await expect(resolve("01890000")).rejects.toMatchObject({
		code: "ambiguous",
		message: expect.stringMatching(
			new RegExp(`^'01890000' matches 2 sessions\\. Give more of the id:\n  ${A}  ${cwd}\n  ${B}  ${cwd}$`),
		),
	});
});

it("suggests the only id that is near", async () => {
	const { save, resolve } = await setUp();
	await save(A);
	await save(B);
	await expect(resolve(A.replace(/aaaa$/, "aaxa"))).rejects.toThrow(
		`No session found matching '${A.replace(/aaaa$/, "aaxa")}'. Did you mean '${A}'?`,
	);
	await expect(resolve("00000000aaxa")).rejects.toThrow(`Did you mean '${A}'?`);
});

it("suggests nothing for short selectors, for ties and for what is far away", async () => {
	const { save, resolve } = await setUp();
	await save(A);
	await save(B);
	for (const selector of ["aax", "00000000abab", "nope", "nope/nope.jsonl"]) {
		await expect(resolve(selector)).rejects.toThrow(
			`No session found matching '${selector}'. Give the path or the id of a saved session, or use "--continue"`,
		);
	}
});

it("says of a path at which something else lies that it is no session, and why", async () => {
	const { cwd, resolve } = await setUp();
	await writeFile(join(cwd, "empty.jsonl"), "");
	await writeFile(join(cwd, "notes.txt"), "Some notes.\n");
	await mkdir(join(cwd, "src"));
	const says = (selector: string, name: string, why: string) =>
		expect(resolve(selector)).rejects.toMatchObject({
			code: "no_session",
			message: expect.stringMatching(`^${join(cwd, name)} is there, but it is no session: ${why}. Give the path`),
		});
	await says("empty.jsonl", "empty.jsonl", "it is empty");
	await says("./notes.txt", "notes.txt", "it does not begin with the lines of one");
	await says("notes.txt", "notes.txt", "it does not begin with the lines of one");
	await says("src/", "src", "it is a folder");
});

it.skipIf(process.platform === "win32")("leaves out a pipe, which nobody may ever write to", async () => {
	const { folder, save, resolve } = await setUp();
	const path = await save(A);
	execFileSync("mkfifo", [join(folder, `${B}.jsonl`)]);
	expect((await listSessions(folder)).map((session) => session.path)).toEqual([path]);
	await expect(resolve(join(folder, `${B}.jsonl`))).rejects.toMatchObject({
		code: "no_session",
		message: expect.stringContaining("it is no regular file."),
	});
});
