import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type LiveProcess, type ProcessResult, runProcess, startProcess } from "@prime-agent/testkit";

const root = resolve(import.meta.dirname, "../..");

/** The program of the small clone: says what it got, and loads a chunk once its input ends. */
const program = `import { text } from "node:stream/consumers";
console.log(JSON.stringify({ version: 1, args: process.argv.slice(2), cwd: process.cwd(), exec: process.execPath,
	key: process.env.SOME_API_KEY ?? null, home: process.env.HOME ?? null }));
const input = await text(process.stdin);
const { lazy } = await import("./lazy.ts");
console.log(lazy + " " + input);
`;

/** Stands in for npm, so that no test needs a registry: links the installed packages, or fails, or waits. */
const npm = `#!/bin/sh
printf '%s\\n' "$*" >>"$FAKE/calls"
while [ -e "$FAKE/npm-waits" ]; do sleep 0.02; done
[ ! -e "$FAKE/npm-fails" ] || { echo "npm error: registry not reachable" >&2; exit 1; }
case $* in
ci*)
	rm -rf node_modules && mkdir node_modules
	for path in "$FAKE_SOURCE"/node_modules/* "$FAKE_SOURCE"/node_modules/.bin; do
		[ "\${path##*/}" = node ] || ln -s "$path" node_modules/
	done
	cp package-lock.json node_modules/.package-lock.json
	mkdir -p node_modules/node/bin
	echo '{ "version": "22.99.0" }' >node_modules/node/package.json
	[ -e "$FAKE/no-scripts" ] || ln -s "$FAKE_NODE" node_modules/node/bin/node
	;;
run*)
	[ ! -e "$FAKE/check-fails" ] || { echo "the check found a fault"; exit 1; }
	;;
install*)
	while [ $# -gt 1 ]; do
		[ "$1" != --prefix ] || prefix=$2
		shift
	done
	mkdir -p "$prefix/node_modules/\${1%@*}/bin"
	ln -s "$FAKE_NODE" "$prefix/node_modules/\${1%@*}/bin/node"
	;;
esac
`;

/** Stands in for the node on PATH: counts its starts, and says an older version when asked to. */
const node = `#!/bin/sh
echo node >>"$FAKE/calls"
[ ! -e "$FAKE/old-node" ] || set -- --require "$FAKE/old.cjs" "$@"
exec "$FAKE_NODE" "$@"
`;
const oldVersion = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });
process.execPath = "/nonexistent/old-node";
`;

/** A clone with the real launcher and build, a program of a few lines, and an npm that needs no network. */
export interface Clone extends AsyncDisposable {
	/** The clone's folder; its name has a blank. */
	path: string;
	/** A folder beside the clone, for starts from elsewhere. */
	elsewhere: string;
	env: Record<string, string>;
	/** Runs the launcher to its end. */
	run(
		args: string[],
		options?: { program?: string; cwd?: string; env?: Record<string, string> },
	): Promise<ProcessResult>;
	/** Starts the launcher and hands it back while it runs. */
	start(args: string[]): LiveProcess;
	/** How the stand-ins behave from now on: a switch is a file. */
	set(name: "npm-waits" | "npm-fails" | "no-scripts" | "old-node" | "check-fails", on: boolean): Promise<void>;
	/** The calls of npm and of the node on PATH so far, one line each. */
	calls(): Promise<string[]>;
	write(path: string, text: string): Promise<void>;
	/** Puts a program of its own on PATH. */
	writeProgram(name: string, text: string): Promise<void>;
}

/** Makes a fresh clone without dependencies or bundle. */
export async function makeClone(): Promise<Clone> {
	const base = await realpath(await mkdtemp(join(tmpdir(), "clone-")));
	const path = join(base, "my clone");
	const elsewhere = join(base, "elsewhere");
	const fake = join(base, "fake");
	const write = async (file: string, text: string) => {
		await mkdir(dirname(join(path, file)), { recursive: true });
		await writeFile(join(path, file), text);
	};
	for (const folder of [path, elsewhere, join(fake, "bin")]) await mkdir(folder, { recursive: true });
	for (const file of ["prime-agent.sh", "test.sh", "package.json", "package-lock.json"])
		await cp(join(root, file), join(path, file));
	await cp(join(root, "scripts"), join(path, "scripts"), {
		recursive: true,
		filter: (file) => !file.endsWith(".test.ts"),
	});
	await write("packages/prime-agent/package.json", '{ "name": "prime-agent", "version": "0.1.0", "type": "module" }\n');
	await write("packages/prime-agent/src/main.ts", program);
	await write("packages/prime-agent/src/lazy.ts", 'export const lazy: string = "lazy 1";\n');
	await write("prime-agent-runtime/src/rlm/kernel.py", "# kernel 1\n");
	const writeProgram = async (name: string, text: string) => {
		await writeFile(join(fake, "bin", name), text);
		await chmod(join(fake, "bin", name), 0o755);
	};
	await writeProgram("npm", npm);
	await writeProgram("node", node);
	await writeFile(join(fake, "old.cjs"), oldVersion);
	await writeFile(join(fake, "calls"), "");
	const env = {
		PATH: [join(fake, "bin"), process.env.PATH].join(delimiter),
		HOME: base,
		FAKE: fake,
		FAKE_SOURCE: root,
		FAKE_NODE: process.execPath,
	};
	const launcher = join(path, "prime-agent.sh");
	return {
		path,
		elsewhere,
		env,
		write,
		writeProgram,
		run: (args, options = {}) =>
			runProcess(options.program ?? launcher, args, {
				cwd: options.cwd ?? path,
				env: { ...env, ...options.env },
				timeoutMs: 50_000,
			}),
		start: (args) => startProcess(launcher, args, { cwd: path, env }),
		async set(name, on) {
			if (on) await writeFile(join(fake, name), "");
			else await rm(join(fake, name), { force: true });
		},
		calls: async () => (await readFile(join(fake, "calls"), "utf8")).split("\n").filter(Boolean),
		[Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true, maxRetries: 5 }),
	};
}
