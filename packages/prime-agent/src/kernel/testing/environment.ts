import { cp, mkdir, writeFile } from "node:fs/promises";
import { expect } from "vitest";
import { findRuntime } from "../runtime.ts";
import { cells, check, type KernelCase } from "./bench.ts";

/** What cells and their commands see of the user's environment. */
export const ENVIRONMENT: readonly KernelCase[] = [
	{
		title: "A planted key is nowhere in a cell or its commands, and its name is reported (K17)",
		run: async (bench) => {
			const { env } = bench.options();
			const kernel = bench.open({
				env: { ...env, ACME_API_KEY: "canary-5151", GH_TOKEN: "canary-5152", PLAIN: "kept" },
			});
			const cell = await kernel.execute(
				"import os\nprint(dict(os.environ))\n!env; cat /proc/$PPID/environ | tr '\\0' '\\n'",
			);
			expect(cell.stdout).toContain("PLAIN=kept");
			expect(JSON.stringify(cell)).not.toContain("canary");
			expect(kernel.leftOut).toEqual(["ACME_API_KEY", "GH_TOKEN"]);
		},
	},
	{
		title: "A name in the settings lets its variable through",
		run: async (bench) => {
			const { env } = bench.options();
			const kernel = bench.open({ env: { ...env, ACME_API_KEY: "wanted" }, settings: { envPass: ["ACME_API_KEY"] } });
			check(await kernel.execute("!echo $ACME_API_KEY"), { stdout: "wanted\n" });
			expect(kernel.leftOut).toEqual([]);
		},
	},
	cells(
		"git fails clearly where it would open an editor (K01)",
		"%%bash\nexport GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\ngit init -q . && git commit --allow-empty -qm first && git commit --amend --allow-empty",
		{
			error: /CalledProcessError/,
			stderr: /No editor can open here/,
		},
	),
	cells(
		"A rebase that has to go on with an editor fails clearly instead of waiting (K15)",
		"%%bash\nexport GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\ngit init -q -b main . && echo 1 > f && git add f && git commit -qm 1\ngit checkout -qb side && echo 2 > f && git commit -qam 2\ngit checkout -q main && echo 3 > f && git commit -qam 3\ngit rebase side >/dev/null 2>&1\necho 4 > f && git add f && git rebase --continue",
		{
			error: /CalledProcessError/,
			stderr: /No editor can open here/,
		},
	),
	cells("git and ssh do not wait for a password", "!echo $GIT_TERMINAL_PROMPT $GIT_SSH_COMMAND", {
		stdout: "0 ssh -o BatchMode=yes\n",
	}),
	cells(
		"A pager does not hold a command",
		"%%bash\nexport GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\ngit init -q . && git commit --allow-empty -qm first && git -p log --format=%s\necho text | $PAGER\necho pager | $GIT_PAGER\necho manual | $MANPAGER",
		{
			stdout: "first\ntext\npager\nmanual\n",
		},
	),
	cells("EDITOR fails and says what to do", '%%bash\nsh -c "$EDITOR file"', {
		stderr: /No editor can open here/,
		error: /exit code 1/,
	}),
	cells(
		"Every variable that names an editor names one that fails, and no pager waits",
		"import os, subprocess\nnames = [n for n in os.environ if 'EDITOR' in n or n == 'VISUAL']\nprint(sorted(names))\nprint({subprocess.run(os.environ[n] + ' file', shell=True, capture_output=True).returncode for n in names})\nprint({os.environ[n] for n in os.environ if n.endswith('PAGER')})",
		{ stdout: /^\['EDITOR', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR', 'VISUAL'\]\n\{1\}\n\{('', 'cat'|'cat', '')\}\n$/ },
	),
	cells(
		"An editor that is opened outright fails at once and says what to do instead (K01)",
		"!vi note.txt; echo code $?; vim +3 -R note.txt; echo code $?; view note.txt; echo code $?",
		{
			stdout: "code 1\ncode 1\ncode 1\n",
			stderr:
				/^vi cannot open here: nobody can type\. Write the file with %%writefile[^\n]*\nvim cannot[^\n]*\nview cannot[^\n]*\n$/,
		},
	),
	{
		title: "An editor that is given commands is the one of the machine, also in a kernel inside a kernel",
		run: async (bench) => {
			const { env } = bench.options();
			const bin = `${bench.folder}/bin`;
			await mkdir(bin);
			await writeFile(`${bin}/vim`, "#!/bin/sh\nprintf '[%s]' \"$@\"; echo\n", { mode: 0o755 });
			const kernel = bench.open({ env: { ...env, PATH: `${bin}:${env.PATH}` } });
			// another version of the program lies elsewhere
			const outer = `${bench.folder}/rlm/editors`;
			await cp(`${findRuntime()}/rlm/editors`, outer, { recursive: true });
			const inner = bench.open({ env: { ...env, PATH: `${outer}:${bin}:${env.PATH}` } });
			for (const each of [kernel, inner]) {
				check(await each.execute("!vim -es -c 'a b' -c wq note.txt; vim +wq x; vim --version"), {
					stdout: "[-es][-c][a b][-c][wq][note.txt]\n[+wq][x]\n[--version]\n",
				});
			}
		},
	},
	{
		title: "Variables for the user's Python reach commands and not the kernel",
		run: async (bench) => {
			const { env } = bench.options();
			const kernel = bench.open({ env: { ...env, PYTHONPATH: "/not/for/the/kernel", PYTHONSTARTUP: "/none" } });
			check(await kernel.execute("import sys\nprint('/not/for/the/kernel' in sys.path)\n!echo $PYTHONPATH"), {
				stdout: "False\n/not/for/the/kernel\n",
			});
		},
	},
	{
		title: "The kernel speaks UTF-8 whatever the user's locale",
		run: async (bench) => {
			const { env } = bench.options();
			for (const locale of ["C", "C.UTF-8"]) {
				const kernel = bench.open({ env: { ...env, LC_ALL: locale, LANG: locale } });
				check(
					await kernel.execute("open('ü.txt', 'w').write('é')\nprint(open('ü.txt').read())\n!ls ü.txt; printf 'é\\n'"),
					{
						stdout: "é\nü.txt\né\n",
					},
				);
				check(await kernel.execute("import sys\nsys.flags.utf8_mode"), { result: "1" });
			}
		},
	},
	{
		title: "The kernel begins in the folder that it is given",
		run: async (bench) => {
			check(await bench.run("import os\nos.getcwd()"), { result: `'${bench.folder}'` });
		},
	},
];
