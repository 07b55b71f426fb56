import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ignore } from "../lib/ignore.ts";
import { type ChildOptions, runChild } from "./child.ts";
import { lastLine } from "./complaint.ts";
import { pythonOf } from "./interpreters.ts";

/** What the kernel cannot do without; version 7 of ipykernel is not supported, see `rlm/jupyter/version.py`. */
export const REQUIRED = "ipykernel>=6,<7";

/** What model code expects to find, by the names under which they are imported. */
export const EXTRAS: readonly string[] = ["dill", "nest_asyncio", "requests", "httpx", "pandas", "numpy"];

/** Where packages come from: the index that pip is set up with, or a folder of wheels and nothing else. */
export interface PackageSource {
	readonly wheels?: string | undefined;
}

/** The name that a shell shows is that of its later place. */
export const PROMPT = "prime-agent-kernel";

const VENV = ["-I", "-m", "venv", "--prompt", PROMPT];
const PIP = ["install", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"];

/**
 * Makes an environment in `folder` with packages of its own. Only wheels are taken: nothing is compiled, and no code of
 * a package runs. Gives one sentence when it did not work out; extras that cannot be had are left out.
 */
export async function makePackagedVenv(
	base: { readonly python: string; readonly pip: "bundled" | "own" },
	folder: string,
	source: PackageSource,
	options: ChildOptions,
): Promise<string | undefined> {
	const flags = base.pip === "own" ? ["--without-pip"] : [];
	const made = await runChild([base.python, ...VENV, ...flags, folder], options);
	if (made.code !== 0) return `its venv module failed: ${lastLine(made.said)}`;
	const python = pythonOf(folder);
	const pip = base.pip === "own" ? [base.python, "-I", "-m", "pip", "--python", python] : [python, "-I", "-m", "pip"];
	const from = source.wheels === undefined ? [] : ["--no-index", "--find-links", source.wheels];
	const install = (...names: string[]) => runChild([...pip, ...PIP, "--only-binary=:all:", ...from, ...names], options);
	const required = await install(REQUIRED);
	if (required.code !== 0) return `pip could not install ipykernel: ${lastError(required.said)}`;
	if ((await install(...EXTRAS)).code !== 0) {
		// one that is not to be had keeps none of the others away
		for (const name of EXTRAS) await install(name);
	}
	return undefined;
}

/** Makes an environment in `folder` that sees the packages of its interpreter; one sentence when it did not work out. */
export async function makeSystemVenv(
	python: string,
	folder: string,
	options: ChildOptions,
): Promise<string | undefined> {
	const words = [python, ...VENV, "--without-pip", "--system-site-packages", folder];
	const made = await runChild(words, options);
	return made.code === 0 ? undefined : `its venv module failed: ${lastLine(made.said)}`;
}

function lastError(said: string): string {
	const errors = said.split("\n").filter((line) => line.startsWith("ERROR:"));
	return (errors.at(-1) ?? lastLine(said)).replace(/^ERROR: /, "");
}

const MAX_SCRIPT_BYTES = 1 << 20;

/**
 * Puts a finished environment in its place; one that is there gives way. What moved still names its old folder in the
 * first lines of its commands, so these are written anew first.
 */
export function moveVenv(from: string, to: string): void {
	for (const file of ["pyvenv.cfg", ...readdirSync(join(from, "bin")).map((name) => join("bin", name))]) {
		const path = join(from, file);
		const stats = lstatSync(path);
		if (!stats.isFile() || stats.size > MAX_SCRIPT_BYTES) continue;
		const text = readFileSync(path, "latin1");
		if (!text.includes("\0") && text.includes(from)) writeFileSync(path, text.replaceAll(from, to), "latin1");
	}
	const old = oldFolder(to);
	rmSync(old, { recursive: true, force: true });
	if (isThere(to)) renameSync(to, old);
	renameSync(from, to);
	rmSync(old, { recursive: true, force: true });
}

/** Removes what installations that were killed left beside an environment; to be called by the holder of the lock. */
export function sweepLeftovers(parent: string, name: string): void {
	const to = join(parent, name);
	const old = oldFolder(to);
	// killed between the two moves: what was there comes back
	if (!isThere(to) && isThere(old)) renameSync(old, to);
	for (const entry of readdirSync(parent)) {
		if (entry.startsWith(`${name}.new-`) || entry === `${name}.old`) {
			try {
				rmSync(join(parent, entry), { recursive: true, force: true });
			} catch (error) {
				ignore(error, "what a killed installation had started may still write there; the next one removes it");
			}
		}
	}
}

function oldFolder(folder: string): string {
	return `${folder}.old`;
}

function isThere(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
