import { chmod, mkdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect } from "vitest";
import { type Bench, check, type KernelCase } from "./bench.ts";
import { openKept } from "./kept.ts";

/** Leaves a snapshot in which `x` is 1 and `planted` writes a file when it is loaded; gives its path. */
async function plant(bench: Bench): Promise<string> {
	const { kernel, path } = openKept(bench);
	await kernel.execute(
		`x = 1\nclass Planted:\n    def __reduce__(self): return (open, ('${bench.folder}/was-loaded', 'w'))\nplanted = Planted()`,
	);
	await kernel.dispose();
	expect((await stat(path)).size).toBeGreaterThan(100);
	return path;
}

/** A snapshot that was changed in some way: nothing of it is loaded, that is said, and it is not written over. */
function refuses(what: string, said: RegExp, change: (path: string) => Promise<unknown>): KernelCase {
	return {
		title: `${what} is not loaded; that is said, and the next snapshot takes its place without writing over it`,
		run: async (bench) => {
			const path = await plant(bench);
			await change(path);
			const { kernel, events } = openKept(bench);
			const cell = await kernel.execute("import os\nprint('x' in globals(), os.path.exists('was-loaded'))\ny = 2");
			check(cell, { stdout: "False False\n" });
			expect(cell.restart).toMatchObject({ restored: [], problem: expect.stringMatching(said) });
			await kernel.dispose();
			expect(events).toMatchObject([{ type: "saved", names: ["os", "y"] }]);
			expect(await stat(`${path}.unread`)).toBeDefined();
			check(await openKept(bench).kernel.execute("y"), { result: "2" });
		},
	};
}

/** What a new kernel does with the snapshot that it finds. */
export const RESTORES: readonly KernelCase[] = [
	refuses("A snapshot that was cut off", /not whole/, async (path) => truncate(path, (await stat(path)).size - 20)),
	refuses("An empty snapshot", /none of this version/, (path) => truncate(path, 0)),
	refuses("A snapshot with bytes added", /not whole/, (path) =>
		writeFile(path, "more bytes at the end", { flag: "a" }),
	),
	refuses("A snapshot whose table was changed", /damaged/, async (path) => {
		const data = await readFile(path, "latin1");
		await writeFile(path, data.replace('"records"', '"recordz"'), "latin1");
	}),
	refuses("A file of another format", /none of this version/, (path) => writeFile(path, "x".repeat(1000))),
	refuses("A snapshot that others can read", /open to other users/, (path) => chmod(path, 0o644)),
	refuses("A snapshot in a folder that others can write to", /open to other users/, (path) =>
		chmod(dirname(path), 0o777),
	),
	refuses("A link in the place of the snapshot", /cannot be opened/, async (path) => {
		await rename(path, `${path}.real`);
		await symlink(`${path}.real`, path);
	}),
	refuses("A folder in the place of the snapshot", /something else/, async (path) => {
		await rm(path);
		await mkdir(path, { mode: 0o700 });
	}),
	{
		title: "A variable whose data was changed is lost by name, and the others come back",
		run: async (bench) => {
			const { kernel, path } = openKept(bench);
			await kernel.execute("x = 'first-value'\ny = 'second-value'");
			await kernel.dispose();
			const data = await readFile(path, "latin1");
			await writeFile(path, data.replace("first-value", "other-value"), "latin1");
			const cell = await openKept(bench).kernel.execute("print('x' in globals(), y)");
			check(cell, { stdout: "False second-value\n" });
			expect(cell.restart?.lost).toEqual([{ name: "x", why: expect.stringContaining("damaged") }]);
		},
	},
	{
		title: "Without the snapshot of an earlier process the first cell is told nothing, and the kernel serves",
		run: async (bench) => {
			const path = await plant(bench);
			await rm(path);
			const cell = await openKept(bench).kernel.execute("1");
			check(cell, { result: "1" });
			expect(cell.restart).toBeUndefined();
		},
	},
	{
		title: "A variable that hangs when it is loaded costs its snapshot and not the session",
		run: async (bench) => {
			const first = openKept(bench);
			await first.kernel.execute(
				"import time\nclass Hang:\n    def __setstate__(self, state): time.sleep(600)\nh = Hang()\nh.x = 1",
			);
			await first.kernel.dispose();
			const { kernel } = openKept(bench, { snapshots: { restoreMs: 1500 } });
			const cell = await kernel.execute("2");
			check(cell, { result: "2" });
			expect(cell.restart).toMatchObject({ restored: [], problem: "restoring took longer than 1.5 s" });
			expect(await stat(`${first.path}.unread`)).toBeDefined();
		},
	},
	{
		title: "A variable that ends the kernel when it is loaded costs its snapshot and not the session",
		run: async (bench) => {
			const first = openKept(bench);
			await first.kernel.execute(
				"import os\nclass End:\n    def __setstate__(self, state): os.kill(os.getpid(), 9)\ne = End()\ne.x = 1",
			);
			await first.kernel.dispose();
			const { kernel } = openKept(bench);
			const cell = await kernel.execute("2");
			check(cell, { result: "2" });
			expect(cell.restart).toMatchObject({ restored: [], problem: expect.stringContaining("SIGKILL") });
			expect(await stat(`${first.path}.unread`)).toBeDefined();
		},
	},
	{
		title: "What cannot be restored here stays in the snapshot for a kernel that can",
		run: async (bench) => {
			const module = `${bench.folder}/tools.py`;
			await writeFile(module, "class Tool:\n    size = 3\n");
			const first = openKept(bench);
			await first.kernel.execute("import tools\nt = tools.Tool()\nx = 1");
			await first.kernel.dispose();
			await rm(module);
			const second = openKept(bench);
			const cell = await second.kernel.execute("x += 1");
			expect(cell.restart?.restored).toEqual(["x"]);
			expect(cell.restart?.lost).toEqual([
				{ name: "tools", why: "ModuleNotFoundError: No module named 'tools'" },
				{ name: "t", why: "ModuleNotFoundError: No module named 'tools'" },
			]);
			await second.kernel.dispose();
			await writeFile(module, "class Tool:\n    size = 3\n");
			check(await openKept(bench).kernel.execute("print(x, t.size, tools.__name__)"), { stdout: "2 3 tools\n" });
		},
	},
	{
		title: "A session that goes on in another folder stays there, and says when the folder of its cells is gone",
		run: async (bench) => {
			const first = openKept(bench);
			await first.kernel.execute("import os\nos.mkdir('sub')\nos.mkdir('other')\nos.chdir('sub')");
			await first.kernel.dispose();
			const elsewhere = openKept(bench, { cwd: `${bench.folder}/other` });
			check(await elsewhere.kernel.execute("os.path.basename(os.getcwd())"), { result: "'other'" });
			await elsewhere.kernel.dispose();
			// of which nothing is kept
			await rm(first.path);
			const second = openKept(bench);
			await second.kernel.execute("import os\nos.chdir('sub')");
			await second.kernel.dispose();
			await rm(`${bench.folder}/sub`, { recursive: true });
			const cell = await openKept(bench).kernel.execute("os.getcwd()");
			check(cell, { result: `'${bench.folder}'` });
			expect(cell.restart?.folder).toBe(`${bench.folder}/sub`);
		},
	},
	{
		title: "A kernel that ended without its last snapshot says that values may be older",
		run: async (bench) => {
			const { kernel, path } = openKept(bench);
			await kernel.execute("x = 1");
			await kernel.dispose();
			// as a program that is killed leaves it
			await writeFile(`${path}.behind`, "");
			const cell = await openKept(bench).kernel.execute("x");
			expect(cell.restart).toMatchObject({ restored: ["x"], behind: "unknown" });
		},
	},
];
