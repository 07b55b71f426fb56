import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runProcess, waitFor } from "@prime-agent/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
let folder = "";

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), "guard-"));
	await mkdir(join(folder, "home"));
	await symlink(join(root, "node_modules"), join(folder, "node_modules"));
	const guard = JSON.stringify(join(root, "scripts/testing/guard.ts"));
	await writeFile(join(folder, "vitest.config.ts"), `export default { test: { globalSetup: ${guard} } };\n`);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs a test suite of one test, whose body is given, under the guard. */
async function runGuarded(body: string) {
	const imports = `import { it, expect } from "vitest";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";\n`;
	await writeFile(join(folder, "some.test.ts"), `${imports}it("does something", () => {\n${body}\n});\n`);
	const env = { ...process.env, HOME: join(folder, "home"), REAL_HOME: join(folder, "home"), NO_COLOR: "1" };
	const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder];
	const { code, stdout, stderr } = await runProcess(process.execPath, args, { env, cwd: folder, timeoutMs: 50_000 });
	return { code, output: stdout + stderr };
}

/** The command of a process, empty for one that ended, be it collected or not. */
async function readCommand(pid: string | undefined): Promise<string> {
	return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
}

it("the guard gives the tests a home and a folder for temporary files of their own", async () => {
	const body = "expect(homedir()).toBe(tmpdir() + '/home'); expect(homedir()).not.toBe(process.env.REAL_HOME);";
	expect(await runGuarded(body)).toMatchObject({ code: 0 });
});

it.each([
	["its environment", "{ detached: true, stdio: 'ignore' }"],
	["its folder", "{ detached: true, stdio: 'ignore', env: {}, cwd: tmpdir() }"],
])("the guard fails a run in which a test left a process behind, known by %s, and ends it", async (_how, options) => {
	const body = `spawn('/bin/sleep', ['1000'], ${options}).unref();`;
	const { code, output } = await runGuarded(body);
	expect(output).toContain("1 passed");
	expect(code).toBe(1);
	const pid = /a test left process (\d+) behind: \/bin\/sleep 1000/.exec(output)?.[1];
	expect(pid).toBeDefined();
	await waitFor(async () => (await readCommand(pid)) === "", "the process to be gone");
});

it("the guard fails a run in which a test touched the real home", async () => {
	const { code, output } = await runGuarded("mkdirSync(process.env.REAL_HOME + '/.prime');");
	expect(output).toContain(`a test changed the real home: ${folder}/home/.prime`);
	expect(code).toBe(1);
});
