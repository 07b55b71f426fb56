import { dirname } from "node:path";
import { type ChildOptions, runChild } from "./child.ts";
import { pythonOf } from "./interpreters.ts";
import { EXTRAS, type PackageSource, PROMPT, REQUIRED } from "./venv.ts";

/** The Python that uv is asked for where the machine has none that fits. */
export const UV_PYTHON = "3.11";

const QUIET = ["--no-progress", "--color", "never"];
const MAX_CHARS = 300;

/** True when the program `uv` on PATH is the package manager; another one of that name checks UTF-8. */
export async function hasUv(options: ChildOptions): Promise<boolean> {
	const asked = await runChild(["uv", "--version"], options);
	return asked.code === 0 && /^uv \d/.test(asked.stdout);
}

/**
 * Makes an environment in `folder` with uv; `python` is an interpreter or a version, which uv may then download. Like
 * `makePackagedVenv` it takes wheels only, leaves out extras that cannot be had, and gives one sentence when it failed.
 */
export async function makeUvVenv(
	python: string,
	folder: string,
	source: PackageSource,
	options: ChildOptions,
): Promise<string | undefined> {
	// settings of uv in the project would say where packages come from
	const { UV_SYSTEM_PYTHON: _system, ...env } = options.env;
	const outside = { ...options, env, cwd: dirname(folder) };
	const made = await runChild(["uv", "venv", ...QUIET, "--python", python, "--prompt", PROMPT, folder], outside);
	if (made.code !== 0) return `uv could not make an environment: ${readComplaint(made.said)}`;
	const from = source.wheels === undefined ? [] : ["--no-index", "--find-links", source.wheels];
	const words = ["uv", "pip", "install", ...QUIET, "--python", pythonOf(folder), "--only-binary", ":all:", ...from];
	const install = (...names: string[]) => runChild([...words, ...names], outside);
	const required = await install(REQUIRED);
	if (required.code !== 0) return `uv could not install ipykernel: ${readComplaint(required.said)}`;
	if ((await install(...EXTRAS)).code !== 0) {
		// one that is not to be had keeps none of the others away
		for (const name of EXTRAS) await install(name);
	}
	return undefined;
}

/** An error of uv on one line: it draws its causes as a tree over several. */
function readComplaint(said: string): string {
	const lines = said.split("\n").map((line) => line.replace(/^[\s×├╰│─▶]+/, "").trim());
	const start = said.split("\n").findIndex((line) => /^\s*(error:|×)/.test(line));
	const text = lines
		.slice(Math.max(0, start))
		.filter((line) => line !== "")
		.join(" ")
		.replace(/^error: /, "");
	return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
