import { isAbsolute, relative, sep } from "node:path";
import type { ExecutionEnvironment } from "../environment/environment.ts";

/** Whether a path that is relative to a folder leads out of it. */
function leadsOut(below: string): boolean {
	return below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below);
}

/** Whether the real path `path` is the real folder `base` or lies in it. */
export function isInside(base: string, path: string): boolean {
	return !leadsOut(relative(base, path));
}

/** A function that writes real, absolute paths as people do: relative to the working directory where they lie inside. */
export async function makeShortener(environment: ExecutionEnvironment): Promise<(path: string) => string> {
	const base = await environment.resolvePath(".");
	return (path) => {
		const below = relative(base, path);
		if (below === "") return ".";
		return leadsOut(below) ? path : below;
	};
}

/** One path in the shape of `makeShortener`. */
export async function shortenPath(environment: ExecutionEnvironment, path: string): Promise<string> {
	return (await makeShortener(environment))(path);
}

/** The place that `path` really leads to, links resolved, in the shape of `shortenPath`; unreadable paths stay as given. */
export async function showPath(environment: ExecutionEnvironment, path: string): Promise<string> {
	try {
		return await shortenPath(environment, await environment.resolvePath(path));
	} catch {
		// The path cannot be followed (a loop of links, for instance); the tool itself will say why.
		return path;
	}
}

/** Lets the writers of one real path wait for each other, so that edits in one batch all apply. */
export class PathLocks {
	readonly #tails = new Map<string, Promise<void>>();

	/** Runs `work` when nobody else holds any of `paths`; several paths are taken in one fixed order. */
	async hold<Result>(paths: string[], work: () => Promise<Result>): Promise<Result> {
		const wanted = [...new Set(paths)].sort();
		const releases: (() => void)[] = [];
		try {
			for (const path of wanted) releases.push(await this.#take(path));
			return await work();
		} finally {
			for (const release of releases) release();
		}
	}

	async #take(path: string): Promise<() => void> {
		const before = this.#tails.get(path) ?? Promise.resolve();
		const { promise, resolve } = Promise.withResolvers<void>();
		const tail = before.then(() => promise);
		this.#tails.set(path, tail);
		await before;
		return () => {
			resolve();
			if (this.#tails.get(path) === tail) this.#tails.delete(path);
		};
	}
}
