import { expect } from "vitest";
import { cells, type KernelCase } from "./bench.ts";

/** `%%bash`, `!cmd` and the magics. */
export const COMMANDS: readonly KernelCase[] = [
	cells(
		"%%bash runs the cell as one script and keeps both streams apart",
		"%%bash\na=1\necho $((a+1))\necho oops >&2",
		{
			stdout: "2\n",
			stderr: "oops\n",
		},
	),
	cells("%%bash with another exit code than 0 is an error that shows the code", "%%bash\necho partly\nexit 3", {
		error: /CalledProcessError.*exit code 3/s,
		stdout: "partly\n",
	}),
	cells("A script that was killed is reported as killed (K07)", "%%bash\nkill -9 $$", { error: /killed by SIGKILL/ }),
	cells("A command inside a script that was killed is reported as killed", "%%bash\nbash -c 'kill -9 $$'\nexit $?", {
		error: /exit code 137.*SIGKILL/s,
	}),
	cells("A !cmd that was killed is reported as killed (K07)", "!kill -9 $$\nx = !kill -15 $$", {
		stderr: "[The command was killed by SIGKILL (signal 9).]\n[The command was killed by SIGTERM (signal 15).]\n",
	}),
	cells("%%bash that is not on the first line is an error that says so", "# a comment\n%%bash\necho hi", {
		error: /first line|%%bash/,
	}),
	cells(
		"The folder of a script does not carry over",
		["%%bash\ncd /; export LOST=1", "import os\nprint(os.getcwd() == '/', 'LOST' in os.environ)"],
		{
			stdout: "False False\n",
		},
	),
	cells("A cell with the line ends of Windows runs", "%%bash\r\nx=1\r\necho $((x + 1))\r\n", { stdout: "2\n" }),
	cells("%%sh runs with sh", "%%sh\necho from sh", { stdout: "from sh\n" }),
	cells("%%bash --out keeps the output in a variable", ["%%bash --out kept\necho hello", "kept"], {
		result: "'hello\\n'",
	}),
	cells(
		"A script longer than one argument may be runs whole",
		`%%bash\n${"true # padding padding padding\n".repeat(9000)}echo end`,
		{
			stdout: "end\n",
		},
	),
	cells(
		"A script in strict mode stops at its first failure",
		"%%bash\nset -euo pipefail\nfalse | true\necho not reached",
		{
			error: /exit code 1/,
			stdout: "",
		},
	),
	cells(
		"%%writefile writes exactly the rest of the cell",
		["%%writefile a.txt\nfirst line\n\t{x} $y \\n é\n", "repr(open('a.txt', newline='').read())"],
		{ result: /first line\\\\n\\\\t\{x\} \$y \\\\+n é\\\\n/ },
	),
	cells(
		"%%writefile -a appends",
		["%%writefile a.txt\none", "%%writefile -a a.txt\ntwo", "print(open('a.txt').read())"],
		{
			stdout: "one\ntwo\n\n",
		},
	),
	cells("!cmd shows the output of a command", "!echo hello; echo oops >&2", { stdout: /hello\n/ }),
	cells("!cmd works inside a block", "for i in range(2):\n    if i:\n        !echo number {i}", {
		stdout: "number 1\n",
	}),
	cells("!cmd goes on over a backslash", "!echo one \\\n  two\nprint('after')", { stdout: "one two\nafter\n" }),
	cells(
		"A line that looks like a command inside a string stays text",
		"s = '''\n!echo no\n%pwd\n'''\n!true\nprint(s)",
		{
			stdout: "\n!echo no\n%pwd\n\n",
		},
	),
	cells("A modulo over two lines stays Python, also beside a command", "y = 4\n!true\nx = (7\n%y\n)\nx", {
		result: "3",
	}),
	cells("x = !cmd keeps the lines with .s and .n", "x = !printf 'a\\nb\\n'\nprint(list(x), x.s, repr(x.n))", {
		stdout: "['a', 'b'] a b 'a\\nb'\n",
	}),
	cells(
		"x = !cmd keeps both streams in order",
		"x = !for i in $(seq 40); do echo o$i; echo e$i >&2; done\nlist(x) == [k + str(i) for i in range(1, 41) for k in 'oe']",
		{ result: "True" },
	),
	cells("{expression} and $name put values into a command", "n = 4\nd = {'k': 'v'}\n!echo {n * 2} $n {d['k']}", {
		stdout: "8 4 v\n",
	}),
	cells(
		"Local variables of a function reach its commands",
		"def f(word):\n    x = !echo {word} $word\n    return x[0]\nf('w')",
		{ result: "'w w'" },
	),
	cells(
		"Variables and braces of the shell stay the shell's",
		"!V=5; echo $V $(printf home) '$HOME' && echo a b | awk '{print $2}'",
		{
			stdout: "5 home $HOME\nb\n",
		},
	),
	cells("A dollar in single quotes belongs to the shell", "n = 4\n!echo '$n' $n", { stdout: "$n 4\n" }),
	cells("A failing !cmd raises nothing and shows its exit code", "!exit 4\nprint(_exit_code)", { stdout: "4\n" }),
	cells("%cd stays for later cells and prints the folder", ["%cd /", "!pwd"], { stdout: "/\n" }),
	cells("%cd prints where it went", "%cd /usr", { stdout: "/usr\n" }),
	cells(
		"%cd knows ~ and variables of the environment",
		["%env PLACE=/usr", "%cd $PLACE/lib", "%cd ~", "import os\nos.getcwd() == os.environ['HOME']"],
		{
			result: "True",
		},
	),
	cells("%cd - goes back", ["%cd /usr", "%cd /", "%cd -", "%pwd"], { result: "'/usr'" }),
	cells("%cd to a folder that is not there is clear", "%cd /not/there", { error: /not\/there/ }),
	cells("%pwd gives the folder as a value", "%cd /\np = %pwd\np", { result: "'/'" }),
	cells("%env sets a variable for commands and later cells", ["%env COLOUR=dark blue", "!echo $COLOUR"], {
		stdout: "dark blue\n",
	}),
	cells("%env gives a variable as a value", "import os\nos.environ['A1'] = 'x'\n%env A1", { result: "'x'" }),
	cells("A magic that is not there says what is", "%nonesuch 1", { error: /%nonesuch/ }),
	{
		title: "obj? shows help, or says what to do instead",
		run: async (bench) => {
			const cell = await bench.run("x = 1\nx?");
			expect(`${cell.stdout}${cell.error?.value}${JSON.stringify(cell.displays)}`).toMatch(/help\(x\)|int/);
		},
	},
	cells("A command that is not there fails clearly", "%%bash\nno-such-command-here", {
		error: /exit code 127/,
		stderr: /not found/,
	}),
	cells("A command without output ends: true (K21)", "%%bash\ntrue", { stdout: "", stderr: "" }),
	cells("A command without output ends: exit 1 (K21)", "%%bash\nexit 1", { error: /exit code 1/, stdout: "" }),
	cells("A search without a result ends (K21)", "%%bash\nls /proc/self/fd | grep no-such-name || true", {
		stdout: "",
		stderr: "",
	}),
	cells(
		"Every command has a session and a group of its own",
		"import os\nx = !ps -o pid=,pgid=,sid= -p $$\npid, group, session = map(int, x[0].split())\npid == group == session != os.getpgrp()",
		{ result: "True" },
	),
	cells("get_ipython().system runs a command", "get_ipython().system('echo via')", { stdout: "via\n" }),
];
