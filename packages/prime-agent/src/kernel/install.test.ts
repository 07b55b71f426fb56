import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { acquireLease } from "../platform/lease.ts";
import { runChild } from "./child.ts";
import { pythonOf } from "./interpreters.ts";
import { INSTALL_LOCK } from "./lock.ts";
import { probeInterpreter } from "./probe.ts";
import { findRuntime } from "./runtime.ts";
import { until } from "./testing/bench.ts";
import { findBase, makeHome, makeWheels, runCell } from "./testing/installing.ts";
import { makePackagedVenv } from "./venv.ts";

let root = "";
const signal = new AbortController().signal;

beforeAll(async () => {
	root = await realpath(await mkdtemp(join(tmpdir(), "kernel-install-")));
});

afterAll(async () => {
	await rm(root, { recursive: true, force: true });
});

const base = await findBase();
const needsBase = describe.skipIf(!base);
const left = base ? "" : " (left out: no Python here has both ipykernel and pip)";

const home = (env?: Record<string, string>) => makeHome(root, env);
const wheels = (kind: "good" | "broken") => makeWheels(root, base!, kind);

// pip and venv take their time on a busy machine
needsBase(`an installation${left}`, { timeout: 300_000 }, () => {
	it("takes packages from a folder of wheels, leaves out what is not there, and sessions use what it made", async () => {
		const { venv, install, options } = await home();
		const made = await install({ python: base!.python, wheels: await wheels("good") });
		expect(made).toMatchObject({ folder: venv, base: base!.python, source: "packages", notes: [] });
		expect(made.missing).toContain("pandas");
		expect(made.missing).not.toContain("httpx");
		expect(await runCell(options, "import httpx\nhttpx.__file__.split('/lib/')[0]")).toEqual({
			result: `'${venv}'`,
			backend: "ipykernel",
			python: join(venv, "bin", "python"),
		});
		expect(await readdir(dirname(venv))).toEqual(["kernel-venv"]);
		// commands of packages start with the path of their interpreter
		for (const name of await readdir(join(venv, "bin"))) {
			expect(await readFile(join(venv, "bin", name), "latin1").then((text) => text.includes("kernel-venv.new-"))).toBe(
				false,
			);
		}
	});

	it("uses the pip of its interpreter where environments get none of their own", async ({ skip }) => {
		const { options, folder } = await home();
		const { python } = base!;
		const children = { env: options.env, cwd: folder, signal };
		const pip = await runChild([python, "-I", "-m", "pip", "--version"], children);
		skip(pip.code !== 0, "this interpreter has no pip");
		const venv = join(folder, "venv");
		expect(
			await makePackagedVenv({ python, pip: "own" }, venv, { wheels: await wheels("good") }, children),
		).toBeUndefined();
		const probing = { runtimeDir: findRuntime(), env: options.env, cwd: folder, signal };
		expect(await probeInterpreter(pythonOf(venv), probing)).toMatchObject({
			environment: venv,
			packages: expect.arrayContaining(["httpx"]),
		});
		expect(await readdir(join(venv, "bin"))).not.toContain("pip");
	});

	it("makes an environment over a distribution's ipykernel when no index answers, and says why", async () => {
		const { venv, install, options } = await home();
		const made = await install({ python: base!.python });
		expect(made).toMatchObject({ folder: venv, source: "system" });
		expect(made.why).toMatch(/^pip could not install ipykernel: /);
		expect(await runCell(options, "1 + 1")).toMatchObject({ result: "2", backend: "ipykernel" });
	});

	it("does not put packages that do not run in the place of an environment that does", async () => {
		const { venv, install } = await home();
		await mkdir(venv, { recursive: true });
		await writeFile(join(venv, "mark"), "kept");
		const python = await plainPython();
		const failed = install({ python, wheels: await wheels("broken") });
		await expect(failed).rejects.toThrow(
			/No environment for the kernel could be made\.\nTried:\n {2}.*: its ipykernel does not start: /,
		);
		expect(await readFile(join(venv, "mark"), "utf8")).toBe("kept");
		expect(await readdir(dirname(venv))).toEqual(["kernel-venv"]);
	});

	it("says what keeps sessions from using the environment", async () => {
		const { install } = await home({ PRIME_AGENT_KERNEL_PYTHON: "/opt/python", PRIME_AGENT_KERNEL: "builtin" });
		const { notes } = await install({ python: base!.python });
		expect(notes).toEqual([
			"PRIME_AGENT_KERNEL asks for the built-in kernel, so sessions do not use it.",
			"PRIME_AGENT_KERNEL_PYTHON names /opt/python, so sessions use that and not this environment.",
		]);
	});

	it("brings back the environment that a killed installation had set aside, and removes its leftovers", async () => {
		const { venv, install } = await home();
		await mkdir(`${venv}.old`, { recursive: true });
		await writeFile(join(`${venv}.old`, "mark"), "kept");
		await mkdir(`${venv}.new-1`);
		await expect(install({ python: "/not/there" })).rejects.toThrow("/not/there: cannot be started");
		expect(await readFile(join(venv, "mark"), "utf8")).toBe("kept");
		expect(await readdir(dirname(venv))).toEqual(["kernel-venv"]);
	});

	it("is not hindered by what a killed installation had started and that still writes", async () => {
		const { venv, install } = await home();
		await mkdir(`${venv}.new-1`, { recursive: true });
		const code =
			"import itertools, sys, time\nend = time.monotonic() + 1\nfor i in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):\n    open(f'{sys.argv[1]}/{i}', 'w').close()";
		const writer = spawn(base!.python, ["-c", code, `${venv}.new-1`], { stdio: "ignore" });
		await until("it writes", async () => (await readdir(`${venv}.new-1`)).length > 100);
		const refused = () => expect(install({ python: "/not/there" })).rejects.toThrow("/not/there: cannot be started");
		await refused();
		if (writer.exitCode === null) await once(writer, "exit");
		await refused();
		expect(await readdir(dirname(venv))).toEqual([]);
	});

	/** The time limit, and a person's Ctrl-C, while pip waits for an index that never answers. */
	it.each(["stopped", "out of time"])("that is %s ends pip, says so and changes nothing", async (how) => {
		const asked = Promise.withResolvers<void>();
		const server = createServer(() => asked.resolve()).listen(0, "127.0.0.1");
		onTestFinished(() => void server.close());
		await new Promise((resolve) => server.once("listening", resolve));
		const { port } = server.address() as AddressInfo;
		const { venv, install } = await home({ PIP_INDEX_URL: `http://127.0.0.1:${port}/simple` });
		const stop = new AbortController();
		const connections = new Set<object>();
		server.on("connection", (socket) => {
			connections.add(socket);
			socket.once("close", () => connections.delete(socket));
		});
		const ended = install({
			python: base!.python,
			signal: stop.signal,
			timeoutMs: how === "stopped" ? 300_000 : 5000,
		}).catch((error: Error) => error.message);
		if (how === "stopped") await asked.promise.then(() => stop.abort());
		expect(await ended).toBe(
			how === "stopped"
				? "The installation was stopped.\nNothing was changed."
				: "The installation was stopped after 5 seconds.\nNothing was changed. --timeout <seconds> gives it more time.",
		);
		await until("pip has hung up", () => connections.size === 0);
		expect(existsSync(venv)).toBe(false);
		expect(await readdir(dirname(venv))).toEqual([]);
	});
});

/** An interpreter of this machine without ipykernel, made from one that has it. */
async function plainPython(): Promise<string> {
	const folder = await mkdtemp(join(root, "plain-"));
	await runChild([base!.python, "-I", "-m", "venv", "--without-pip", folder], { env: process.env, cwd: "/", signal });
	return join(folder, "bin", "python");
}

describe("an installation that has to wait", () => {
	it("names the process that installs, waits for it, and goes on when it has ended", async () => {
		const { said, venv, install } = await home();
		const lease = acquireLease(dirname(venv), INSTALL_LOCK);
		const ended = install({ python: "/not/there" }).catch((error: Error) => error.message);
		await until("it says for whom it waits", () => said.length > 0);
		expect(said).toEqual([
			expect.stringMatching(new RegExp(`^Waiting for process ${process.pid}, which has been installing since 20`)),
		]);
		lease.release();
		expect(await ended).toContain("/not/there: cannot be started");
	});

	it("stops waiting when it is called off, and leaves the lock to its owner", async () => {
		const { said, venv, install } = await home();
		const lease = acquireLease(dirname(venv), INSTALL_LOCK);
		const stop = new AbortController();
		const ended = install({ signal: stop.signal }).catch((error: Error) => error.message);
		await until("it says for whom it waits", () => said.length > 0);
		stop.abort();
		expect(await ended).toBe("The installation was stopped.\nNothing was changed.");
		expect(await readdir(dirname(venv))).toEqual([`${INSTALL_LOCK}.json`]);
		lease.release();
	});
});

describe("an installation without a fit interpreter", () => {
	it("names every interpreter and what it lacked, and what to do", async () => {
		const bin = await mkdtemp(join(root, "bin-"));
		const fake = async (name: string, script: string) => {
			await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
			await chmod(join(bin, name), 0o755);
			return join(bin, name);
		};
		const answer = (fields: object) =>
			`echo '${JSON.stringify({ version: "3.9.1", environment: null, old: false, packages: [], ...fields })}'`;
		const { install } = await home();
		const refuse = (python: string) => install({ python }).catch((error: Error) => error.message);
		const old = await fake("old", answer({ old: true }));
		expect(await refuse(old)).toContain(
			`\n  ${old}: is Python 3.9.1; 3.10 or newer is needed\nInstall ipykernel for a Python`,
		);
		const bare = await fake("bare", answer({ venv: false }));
		expect(await refuse(bare)).toContain(`\n  ${bare}: has no venv module (Debian: apt-get install python3-venv)\n`);
		const poor = await fake("poor", answer({ venv: true, lacked: "has no ipykernel" }));
		expect(await refuse(poor)).toContain(
			`\n  ${poor}: has no pip (Debian: apt-get install python3-venv)\n  ${poor}: has no ipykernel of its own\n`,
		);
		const odd = await fake("odd", "echo hello");
		expect(await refuse(odd)).toContain(`\n  ${odd}: it answered with something else\n`);
		const shim = await fake("shim", "echo 'shim: no version is set' >&2\necho 'see the manual' >&2\nexit 127");
		expect(await refuse(shim)).toContain(`\n  ${shim}: shim: no version is set\n`);
	});
});
