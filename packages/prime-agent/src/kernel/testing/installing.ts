import { mkdtemp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runChild } from "../child.ts";
import { createKernel } from "../index.ts";
import { type InstallOptions, installKernel } from "../install.ts";
import { listCandidates } from "../interpreters.ts";
import { probeInterpreter } from "../probe.ts";
import { findRuntime } from "../runtime.ts";
import { writeWheel } from "./wheels.ts";

const signal = new AbortController().signal;

/** An interpreter of this machine that can make environments, and the folder that holds its ipykernel. */
export interface Base {
	readonly python: string;
	readonly packages: string;
}

/** The first one that has all that; undefined when there is none. */
export async function findBase(): Promise<Base | undefined> {
	for (const { python } of listCandidates({ env: { PATH: process.env.PATH, HOME: "/nowhere" } })) {
		const probe = await probeInterpreter(python, { runtimeDir: findRuntime(), env: process.env, cwd: "/", signal });
		if (probe.unfit || probe.lacked || !probe.pip || !probe.canMakeEnvironments) continue;
		const where = "import importlib.util as u; print(u.find_spec('ipykernel').submodule_search_locations[0])";
		const found = await runChild([python, "-I", "-c", where], { env: process.env, cwd: "/", signal });
		return { python, packages: dirname(found.stdout.trim()) };
	}
	return undefined;
}

/** A home of its own below `root`, and what an installation there said. No index answers there. */
export async function makeHome(root: string, env: Record<string, string> = {}) {
	const folder = await mkdtemp(join(root, "home-"));
	const said: string[] = [];
	const options: InstallOptions = {
		cwd: folder,
		env: {
			HOME: folder,
			PATH: process.env.PATH,
			PIP_INDEX_URL: "http://127.0.0.1:9/simple",
			PIP_CONFIG_FILE: "/dev/null",
			UV_OFFLINE: "1",
			UV_CACHE_DIR: join(folder, "uv-cache"),
			...env,
		},
		settings: {},
		timeoutMs: 300_000,
		signal,
		say: (line) => said.push(line),
	};
	const venv = join(folder, ".prime", "agent", "kernel-venv");
	const install = (more: Partial<InstallOptions> = {}) => installKernel({ ...options, ...more });
	return { folder, said, venv, install, options };
}

/** A folder below `root` with a wheel of ipykernel (that of `base` by reference, or one that does not work) and one of httpx. */
export async function makeWheels(root: string, base: Base, kind: "good" | "broken"): Promise<string> {
	const { python, packages } = base;
	const folder = await mkdtemp(join(root, "wheels-"));
	const version = '__version__ = "6.1.0"\n';
	const files = { "ipykernel/__init__.py": "raise ImportError('broken')\n", "ipykernel/_version.py": version };
	const link: Record<string, string> = { "of-the-system.pth": `${packages}\n` };
	await writeWheel(python, { folder, name: "ipykernel", version: "6.1.0", files: kind === "good" ? link : files });
	await writeWheel(python, { folder, name: "httpx", version: "0.1", files: { "httpx.py": "" } });
	return folder;
}

/** What a cell of a session with this environment gives, and what serves it. */
export async function runCell({ cwd, env }: Pick<InstallOptions, "cwd" | "env">, code: string) {
	const kernel = createKernel({ cwd, env });
	try {
		const { result } = await kernel.execute(code);
		return { result, backend: kernel.info()?.backend, python: kernel.info()?.python };
	} finally {
		await kernel.dispose();
	}
}
