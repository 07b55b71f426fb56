import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKernel, type KernelSettings } from "./index.ts";
import { listCandidates } from "./interpreters.ts";

let root = "";

async function plant(path: string, content = "\x7fELF"): Promise<string> {
	const whole = join(root, path);
	await mkdir(dirname(whole), { recursive: true });
	await writeFile(whole, content);
	await chmod(whole, 0o755);
	return whole;
}

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), "interpreters-"));
});

afterAll(async () => {
	await rm(root, { recursive: true, force: true });
});

/** The candidates below the test's folder: the machine's own ones are not ours to know. */
function planted(env: Record<string, string>, python?: string): string[] {
	return listCandidates({ env: { HOME: root, ...env }, python })
		.filter((candidate) => candidate.python.startsWith(root))
		.map((candidate) => `${candidate.kind} ${candidate.python.slice(root.length)}`);
}

describe("the search for an interpreter", () => {
	it("tries only the interpreter that the user named, the environment before the settings", () => {
		const env = { PRIME_AGENT_KERNEL_PYTHON: "/opt/a/python", PATH: "/usr/bin" };
		expect(listCandidates({ env, python: "/opt/b/python" })).toEqual([{ python: "/opt/a/python", kind: "explicit" }]);
		expect(listCandidates({ env: { PATH: "/usr/bin" }, python: "/opt/b/python" })).toEqual([
			{ python: "/opt/b/python", kind: "explicit" },
		]);
	});

	it("tries managed environments before installed interpreters, in the order of their places", async () => {
		await plant(".prime/agent/kernel-venv/bin/python");
		await plant(".local/share/prime-agent/kernel-venv/bin/python");
		await plant("bin/python3");
		expect(planted({ PATH: join(root, "bin") })).toEqual([
			"managed /.prime/agent/kernel-venv/bin/python",
			"managed /.local/share/prime-agent/kernel-venv/bin/python",
			"installed /bin/python3",
		]);
	});

	it("takes the managed environment that the user named instead of the usual ones", async () => {
		await plant("named/bin/python");
		expect(planted({ PRIME_AGENT_KERNEL_VENV: join(root, "named"), PATH: "" })).toEqual(["managed /named/bin/python"]);
	});

	it("leaves the active virtual environment out", async () => {
		await plant("venv/bin/python3");
		await plant("real/python3");
		const env = { PRIME_AGENT_KERNEL_VENV: join(root, "none"), VIRTUAL_ENV: join(root, "venv") };
		expect(planted({ ...env, PATH: `${join(root, "venv/bin")}:${join(root, "real")}` })).toEqual([
			"installed /real/python3",
		]);
	});

	it("tries scripts that only choose an interpreter after real ones, and skips what cannot run", async () => {
		await plant("shims/python3", "#!/bin/sh\n");
		await plant("second/python3.12");
		await writeFile(join(root, "second", "python3"), "no permission to run");
		const env = { PRIME_AGENT_KERNEL_VENV: join(root, "none"), PATH: `${join(root, "shims")}:${join(root, "second")}` };
		expect(planted(env)).toEqual(["installed /second/python3.12", "installed /shims/python3"]);
	});
});

describe("a kernel without a fit interpreter", () => {
	async function complaint(env: Record<string, string>, settings: KernelSettings = {}): Promise<string> {
		const kernel = createKernel({ cwd: root, env: { HOME: root, ...env }, settings });
		kernel.prewarm();
		const message = await kernel.execute("1").then(
			() => "it ran",
			(error: Error) => error.message,
		);
		await kernel.dispose();
		return message;
	}

	it("says that a Python is too old, and which one", async () => {
		const old = await plant("old/python3", "#!/bin/sh\necho 'is Python 3.6; 3.10 or newer is needed' >&2\nexit 64\n");
		expect(await complaint({ PRIME_AGENT_KERNEL_PYTHON: old })).toBe(
			`The Python kernel cannot start.\nTried:\n  ${old}: is Python 3.6; 3.10 or newer is needed\nPRIME_AGENT_KERNEL_PYTHON names ${old}, which does not fit. Name a Python 3.10 or newer there, or leave it out, and a Python of this machine is used.`,
		);
	});

	it("tries an unfit interpreter only once, until it changes", async () => {
		const script = "#!/bin/sh\necho x >> \"$0.runs\"\necho 'is too old' >&2\nexit 64\n";
		const python = await plant("once/python3", script);
		await complaint({ PRIME_AGENT_KERNEL_PYTHON: python });
		expect(await complaint({ PRIME_AGENT_KERNEL_PYTHON: python })).toContain("is too old");
		expect(await readFile(`${python}.runs`, "utf8")).toBe("x\n");
		await utimes(python, 1, 1);
		await complaint({ PRIME_AGENT_KERNEL_PYTHON: python });
		expect(await readFile(`${python}.runs`, "utf8")).toBe("x\nx\n");
	});

	it("says that an interpreter is not there", async () => {
		expect(await complaint({ PRIME_AGENT_KERNEL_PYTHON: "/not/there/python3" })).toMatch(
			/\/not\/there\/python3: cannot be started: .*ENOENT/,
		);
	});

	it.each<[Record<string, string>, KernelSettings]>([
		[{ PRIME_AGENT_KERNEL_PYTHON: "/not/there/python3" }, {}],
		[{ PRIME_AGENT_KERNEL_PYTHON: "/not/there/python3", PRIME_AGENT_KERNEL: "ipykernel" }, {}],
		[{ PRIME_AGENT_KERNEL_PYTHON: "python-of-nobody", PATH: "/usr/bin" }, {}],
		[{}, { python: "/not/there/python3" }],
	])(
		"says who named the interpreter that is not there, and does not ask for an installation: %j %j",
		async (env, own) => {
			const python = own.python ?? env.PRIME_AGENT_KERNEL_PYTHON;
			const place = own.python ? "The setting kernel.python" : "PRIME_AGENT_KERNEL_PYTHON";
			const message = await complaint(env, own);
			expect(message).toContain(`\n${place} names ${python}, which is not there. Name a Python`);
			expect(message).not.toMatch(/install/i);
		},
	);

	it("says what an interpreter printed that ended before it was ready", async () => {
		const broken = await plant("broken/python3", "#!/bin/sh\necho 'libpython.so is missing' >&2\nexit 127\n");
		expect(await complaint({ PRIME_AGENT_KERNEL_PYTHON: broken })).toContain(`${broken}: libpython.so is missing`);
	});

	it("says that something else answered", async () => {
		const other = await plant(
			"other/python3",
			'#!/bin/sh\necho \'{"op":"hello","protocol":99}\' >&3\ncat <&3 >/dev/null\n',
		);
		expect(await complaint({ PRIME_AGENT_KERNEL_PYTHON: other })).toContain("speaks another protocol");
	});

	it("says that a back end is not there", async () => {
		expect(await complaint({ PRIME_AGENT_KERNEL: "julia" })).toContain(
			'PRIME_AGENT_KERNEL names the back end "julia", which is not there. Use "auto"',
		);
		expect(await complaint({}, { backend: "julia" as "auto" })).toContain("The setting kernel.backend names");
	});

	it("says that its folder is not there", async () => {
		const kernel = createKernel({ cwd: join(root, "gone"), env: { HOME: root, PATH: process.env.PATH } });
		await expect(kernel.execute("1")).rejects.toThrow(`The folder ${join(root, "gone")} is not there`);
	});

	it("does not take an installed interpreter that belongs to a virtual environment", async () => {
		const env = { HOME: root, PRIME_AGENT_KERNEL_VENV: join(root, "none") };
		const plain = createKernel({ cwd: root, env: { ...env, PATH: process.env.PATH } });
		await plain.execute("import sys, venv\nvenv.create('inner', with_pip=False)");
		await plain.dispose();
		const kernel = createKernel({
			cwd: root,
			env: { ...env, PATH: `${join(root, "inner", "bin")}:${process.env.PATH}` },
		});
		expect((await kernel.execute("import sys\nsys.prefix == sys.base_prefix")).result).toBe("True");
		await kernel.dispose();
		const named = createKernel({
			cwd: root,
			env: { ...env, PRIME_AGENT_KERNEL_PYTHON: join(root, "inner", "bin", "python") },
		});
		expect((await named.execute("import sys\nsys.prefix == sys.base_prefix")).result).toBe("False");
		await named.dispose();
	});

	it("does not hold a cell that is called off while an interpreter does not answer, nor the end of the session", async () => {
		const silent = await plant("silent/python3", "#!/bin/sh\ncat <&3 >/dev/null\n");
		const kernel = createKernel({
			cwd: root,
			env: { HOME: root, PATH: process.env.PATH, PRIME_AGENT_KERNEL_PYTHON: silent },
		});
		const stop = new AbortController();
		const cell = kernel.execute("1", { signal: stop.signal, onStatus: () => setImmediate(() => stop.abort()) });
		expect((await cell).status).toBe("interrupted");
		await kernel.dispose();
	});

	it("goes on to the next interpreter after one that is unfit", async () => {
		await plant("first/python3", "#!/bin/sh\nexit 9\n");
		const env = {
			HOME: root,
			PATH: `${join(root, "first")}:${process.env.PATH}`,
			PRIME_AGENT_KERNEL_VENV: join(root, "none"),
		};
		const kernel = createKernel({ cwd: root, env });
		expect((await kernel.execute("1 + 1")).result).toBe("2");
		await kernel.dispose();
	});
});
