import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { cells, check, type KernelCase } from "./bench.ts";

/** Skills that come with the program. */
export const SKILLS: readonly KernelCase[] = [
	{
		title: "await edit(...) replaces text that occurs once, keeps every other byte and the mode, and shows a diff",
		run: async (bench) => {
			const file = join(bench.folder, "a.py");
			await writeFile(file, "\ufeffone = 1\r\ntwo = 2\r\nlast");
			await chmod(file, 0o751);
			const cell = await bench.run('await edit(path="a.py", old_str="one = 1\\ntwo", new_str="deux")');
			check(cell, { result: "'Edited a.py'", stdout: "" });
			expect(await readFile(file, "utf8")).toBe("\ufeffdeux = 2\r\nlast");
			expect((await stat(file)).mode & 0o777).toBe(0o751);
			expect(cell.displays).toEqual([
				{
					"application/vnd.prime-agent.diff+json": {
						path: file,
						diff: expect.stringContaining("-two = 2\n+\ufeffdeux = 2\n last\n"),
						added: 1,
						removed: 2,
						truncated: false,
					},
					"text/plain": "",
				},
			]);
		},
	},
	{
		title: "edit(...) without await changes nothing and says so",
		run: async (bench) => {
			const file = join(bench.folder, "a.txt");
			await writeFile(file, "x\n");
			check(await bench.run('edit("a.txt", "x", "z")'), {
				result: "not awaited, nothing was done: write `await edit(...)`",
			});
			expect(await readFile(file, "utf8")).toBe("x\n");
		},
	},
	{
		title: "An edit whose text is not there, or there twice, is an error and changes nothing",
		run: async (bench) => {
			const file = join(bench.folder, "a.txt");
			await writeFile(file, "x\nx\n");
			check(await bench.run('await edit("a.txt", "y", "z")'), {
				error: /^ValueError: old_str does not occur in a\.txt/,
			});
			check(await bench.run('await edit("a.txt", "x", "z")'), {
				error: /^ValueError: old_str occurs 2 times in a\.txt/,
			});
			check(await bench.run('await edit("b.txt", "x", "z")'), { error: /^FileNotFoundError: / });
			expect(await readFile(file, "utf8")).toBe("x\nx\n");
		},
	},
	{
		title: "!edit and an edit in a shell cell do the same, with the interpreter of the kernel",
		run: async (bench) => {
			const file = join(bench.folder, "a b.txt");
			await writeFile(file, "one two three");
			check(await bench.run('!edit --path "a b.txt" --old-str two --new-str "\\$2"'), { stdout: "Edited a b.txt\n" });
			check(await bench.run("%%bash\nedit --path 'a b.txt' --old-str three --new-str 3"), {
				stdout: "Edited a b.txt\n",
			});
			expect(await readFile(file, "utf8")).toBe("one $2 3");
			check(await bench.run("!edit --path none --old-str a --new-str b"), { stderr: /^edit: .*No such file.*none/ });
		},
	},
	cells("A skill can be imported, also by its function", "import edit\nfrom edit import run\nedit.run is run", {
		result: "True",
	}),
	{
		title: "A module of the user's with the name of a skill is the user's, and the skill still works",
		run: async (bench) => {
			await writeFile(join(bench.folder, "edit.py"), "mine = 1\n");
			await writeFile(join(bench.folder, "a.txt"), "a");
			check(await bench.run("skill = edit\nimport edit\nedit.mine"), { result: "1" });
			check(await bench.run('await skill("a.txt", "a", "b")'), { result: "'Edited a.txt'" });
		},
	},
	cells("A skill that is asked for something that it has not says so", "edit.nothing", {
		error: "AttributeError: the skill edit has no nothing",
	}),
];
