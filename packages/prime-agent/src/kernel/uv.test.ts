import { chmod, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runChild } from "./child.ts";
import { findBase, makeHome, makeWheels, runCell } from "./testing/installing.ts";
import { hasUv } from "./uv.ts";

let root = "";
const signal = new AbortController().signal;
const base = await findBase();
const needsBase = describe.skipIf(!base);
const left = base ? "" : " (left out: no Python here has both ipykernel and pip)";
const isHere = await hasUv({ env: process.env, cwd: "/", signal });

beforeAll(async () => {
	root = await realpath(await mkdtemp(join(tmpdir(), "kernel-uv-")));
});

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 3 }));

/**
 * Stands for uv: writes down how it was called, makes environments with the venv module and unpacks wheels of a folder.
 * It refuses every option that uv does not have.
 */
const STAND_IN = `
import argparse, glob, json, os, subprocess, sys, zipfile
folder = os.path.dirname(os.path.abspath(__file__))
with open(folder + "/calls", "a") as log:
    log.write(json.dumps({"words": sys.argv[1:], "cwd": os.getcwd(), "system": "UV_SYSTEM_PYTHON" in os.environ}) + "\\n")
if sys.argv[1:] == ["--version"]:
    print("uv 0.13.8 (stand-in)")
    sys.exit()
words = argparse.ArgumentParser(allow_abbrev=False)
words.add_argument("--no-progress", action="store_true")
words.add_argument("--color", choices=["auto", "always", "never"])
words.add_argument("--python", required=True)
if sys.argv[1] == "venv":
    words.add_argument("--prompt")
    words.add_argument("path")
    given = words.parse_args(sys.argv[2:])
    python = given.python if "/" in given.python else sys.executable
    sys.exit(subprocess.call([python, "-I", "-m", "venv", "--without-pip", given.path]))
words.add_argument("--only-binary", required=True)
words.add_argument("--no-index", action="store_true")
words.add_argument("--find-links")
words.add_argument("names", nargs="+")
given = words.parse_args(sys.argv[3:])
names = [name.split(">")[0] for name in given.names]
found = {name: glob.glob("%s/%s-*.whl" % (given.find_links, name)) for name in names}
missing = [name for name in names if not found[name]]
if missing:
    sys.stderr.write("  × No solution found when resolving dependencies:\\n")
    sys.stderr.write("  ╰─▶ Because %s was not found in the provided package locations, your\\n" % missing[0])
    sys.stderr.write("      requirements are unsatisfiable.\\n")
    sys.exit(1)
[site] = glob.glob(os.path.dirname(os.path.dirname(given.python)) + "/lib/python3*/site-packages")
for name in names:
    zipfile.ZipFile(found[name][0]).extractall(site)
`;

/** A folder with the stand-in to be put on PATH, and what it was asked. */
async function plantUv(script = STAND_IN) {
	const bin = await mkdtemp(join(root, "bin-"));
	await writeFile(join(bin, "uv"), `#!${base!.python} -I\n${script}`);
	await chmod(join(bin, "uv"), 0o755);
	const calls = async () => {
		const text = await readFile(join(bin, "calls"), "utf8").catch(() => "");
		return text
			.split("\n")
			.filter(Boolean)
			.map((line) => JSON.parse(line) as { words: string[]; cwd: string; system: boolean });
	};
	return { PATH: `${bin}:${process.env.PATH}`, calls };
}

needsBase(`an installation with uv on PATH${left}`, { timeout: 300_000 }, () => {
	it("asks uv for the environment and its packages, from outside of the project, and sessions use them", async () => {
		const { PATH, calls } = await plantUv();
		const { venv, install, options, said } = await makeHome(root, { PATH, UV_SYSTEM_PYTHON: "1" });
		const wheels = await makeWheels(root, base!, "good");
		const made = await install({ python: base!.python, wheels });
		expect(made).toMatchObject({ folder: venv, base: base!.python, source: "packages", notes: [] });
		expect(made.missing).toContain("pandas");
		expect(made.missing).not.toContain("httpx");
		expect(said[0]).toMatch(/^Making an environment with uv and /);
		expect(await runCell(options, "import httpx\nhttpx.__file__.split('/lib/')[0]")).toEqual({
			result: `'${venv}'`,
			backend: "ipykernel",
			python: join(venv, "bin", "python"),
		});
		const work = `${venv}.new-${process.pid}`;
		const quiet = ["--no-progress", "--color", "never"];
		const from = ["--only-binary", ":all:", "--no-index", "--find-links", wheels];
		const packages = ["pip", "install", ...quiet, "--python", join(work, "bin", "python"), ...from];
		const asked = await calls();
		expect(asked.slice(0, 4).map(({ words }) => words)).toEqual([
			["--version"],
			["venv", ...quiet, "--python", base!.python, "--prompt", "prime-agent-kernel", work],
			[...packages, "ipykernel>=6,<7"],
			[...packages, "dill", "nest_asyncio", "requests", "httpx", "pandas", "numpy"],
		]);
		// settings of uv in the project, or that it should use the Python of the system, do not count
		expect(asked.slice(1).every(({ cwd, system }) => cwd === dirname(venv) && !system)).toBe(true);
		expect(await readdir(dirname(venv))).toEqual(["kernel-venv"]);
	});

	it("lets uv bring a Python along where the machine has none that fits", async () => {
		const { PATH, calls } = await plantUv();
		// the usual folders are not looked into when they belong to an active environment
		const env = { PATH: PATH.split(":")[0] ?? "", VIRTUAL_ENV: "/usr", CONDA_PREFIX: "/usr/local" };
		const { venv, install, said } = await makeHome(root, env);
		const made = await install({ wheels: await makeWheels(root, base!, "good") });
		expect(made).toMatchObject({ folder: venv, base: "Python 3.11 of uv", source: "packages" });
		expect(said[0]).toContain("uv and a Python 3.11 of its own");
		expect((await calls())[1]?.words.slice(4, 6)).toEqual(["--python", "3.11"]);
	});

	it("does not replace an interpreter that was named and does not fit", async () => {
		const { PATH, calls } = await plantUv();
		const { install, folder } = await makeHome(root, { PATH });
		const old = join(folder, "old");
		const answer = JSON.stringify({ version: "3.9.1", old: true, packages: [] });
		await writeFile(old, `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
		await expect(install({ python: old })).rejects.toThrow("is Python 3.9.1; 3.10 or newer is needed");
		expect(await calls()).toEqual([]);
	});

	it("goes on with venv and pip when uv fails, and says why where nothing else worked", async () => {
		const { PATH } = await plantUv();
		const { install } = await makeHome(root, { PATH });
		const empty = await mkdtemp(join(root, "empty-"));
		const made = await install({ python: base!.python, wheels: empty });
		expect(made).toMatchObject({ source: "system", why: expect.stringMatching(/^pip could not install ipykernel/) });
		const plain = join(root, "plain");
		await runChild([base!.python, "-I", "-m", "venv", "--without-pip", plain], { env: process.env, cwd: "/", signal });
		await expect(install({ python: join(plain, "bin", "python"), wheels: empty })).rejects.toThrow(
			"uv could not install ipykernel: No solution found when resolving dependencies: Because ipykernel was not found in the provided package locations, your requirements are unsatisfiable.",
		);
	});

	it("does not ask another program that is called uv", async () => {
		const { PATH } = await plantUv("import sys\nprint('valid UTF-8')\n");
		const { install, said } = await makeHome(root, { PATH });
		const made = await install({ python: base!.python, wheels: await makeWheels(root, base!, "good") });
		expect(made.source).toBe("packages");
		expect(said[0]).not.toContain("uv");
	});

	it.skipIf(!isHere)(`works with the real uv${isHere ? "" : " (left out: no uv here)"}`, async () => {
		const { venv, install, options, said } = await makeHome(root);
		const made = await install({ python: base!.python, wheels: await makeWheels(root, base!, "good") });
		expect(said[0]).toMatch(/^Making an environment with uv and /);
		expect(made).toMatchObject({ folder: venv, source: "packages" });
		expect(await runCell(options, "import httpx\n6 * 7")).toMatchObject({ result: "42", backend: "ipykernel" });
	});
});
