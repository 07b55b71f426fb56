import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { CellOptions, CellResult, MimeBundle } from "../../session/ports.ts";
import { KernelUnavailable } from "../errors.ts";
import { createKernel, type Kernel, type KernelOptions } from "../index.ts";

/** One rule of the kernel, tried on a back end. */
export interface KernelCase {
	/** A sentence: subject and effect. */
	readonly title: string;
	readonly run: (bench: Bench) => Promise<void>;
}

/** What the result of a cell must hold; a text must match exactly, a pattern somewhere. */
export interface Expectation {
	readonly status?: CellResult["status"];
	readonly stdout?: string | RegExp;
	readonly stderr?: string | RegExp;
	readonly result?: string | RegExp | undefined;
	readonly error?: string | RegExp;
	readonly traceback?: RegExp;
	readonly displays?: readonly MimeBundle[];
	/** True where a cell before the last one is meant to fail. */
	readonly afterFailure?: boolean;
}

/** A place to try a case: kernels of one back end in a folder of their own. */
export class Bench {
	readonly folder: string;
	readonly #backend: "builtin" | "ipykernel";
	readonly #forks: boolean;
	readonly #kernels: Kernel[] = [];

	constructor(folder: string, backend: "builtin" | "ipykernel", forks: boolean) {
		this.folder = folder;
		this.#backend = backend;
		this.#forks = forks;
	}

	/** A bench in a new temporary folder; with `forks` its kernels may come from a fork server. */
	static async create(backend: "builtin" | "ipykernel", forks: "forks" | "no forks" = "no forks"): Promise<Bench> {
		return new Bench(await realpath(await mkdtemp(join(tmpdir(), "kernel-bench-"))), backend, forks === "forks");
	}

	/** Options that every kernel of this bench shares. */
	options(more: Partial<KernelOptions> = {}): KernelOptions {
		const python = process.env.PRIME_AGENT_TEST_PYTHON;
		return {
			cwd: this.folder,
			env: { HOME: this.folder, PATH: process.env.PATH, TMPDIR: this.folder },
			forks: this.#forks,
			...more,
			settings: { backend: this.#backend, ...(python ? { python } : {}), ...more.settings },
		};
	}

	/** Another kernel, disposed with the bench. */
	open(more: Partial<KernelOptions> = {}): Kernel {
		const kernel = createKernel(this.options(more));
		this.#kernels.push(kernel);
		return kernel;
	}

	/** The kernel of this case. */
	get kernel(): Kernel {
		return this.#kernels[0] ?? this.open();
	}

	/** Runs a cell in it. */
	run(code: string, options?: CellOptions): Promise<CellResult> {
		return this.kernel.execute(code, options);
	}

	/** Runs a cell that has to end well; gives its output. */
	async output(code: string): Promise<string> {
		const cell = await this.run(code);
		expect(cell.error).toBeUndefined();
		return cell.stdout;
	}

	/** Disposes all kernels and removes the folder. */
	async close(): Promise<void> {
		await Promise.all(this.#kernels.map((kernel) => kernel.dispose()));
		await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
	}
}

/** What the product says when no Python of this machine has a back end; undefined when one has it. */
export async function findLack(backend: "builtin" | "ipykernel"): Promise<string | undefined> {
	const bench = await Bench.create(backend);
	try {
		await bench.run("1");
		return undefined;
	} catch (error) {
		if (error instanceof KernelUnavailable) return error.message;
		throw error;
	} finally {
		await bench.close();
	}
}

/** A case that runs cells one after another and looks at the last one. */
export function cells(title: string, code: string | readonly string[], expected: Expectation): KernelCase {
	return {
		title,
		run: async (bench) => {
			const all = typeof code === "string" ? [code] : code;
			let last: CellResult | undefined;
			for (const one of all) {
				if (last && !expected.afterFailure) expect(last.error).toBeUndefined();
				last = await bench.run(one);
			}
			if (last) check(last, expected);
		},
	};
}

/** Compares a result with what it must hold. */
export function check(cell: CellResult, expected: Expectation): void {
	const { status = expected.error || expected.traceback ? "error" : "ok" } = expected;
	expect({ status: cell.status, error: status === "ok" ? cell.error : undefined }).toEqual({
		status,
		error: undefined,
	});
	match(cell.stdout, expected.stdout);
	match(cell.stderr, expected.stderr);
	if ("result" in expected) match(cell.result, expected.result, true);
	match(`${cell.error?.name}: ${cell.error?.value}`, expected.error);
	match(cell.error?.traceback.join("\n"), expected.traceback);
	if (expected.displays) expect(cell.displays).toEqual(expected.displays);
}

function match(actual: string | undefined, expected: string | RegExp | undefined, strict = false): void {
	if (expected === undefined && !strict) return;
	if (expected instanceof RegExp) expect(actual).toMatch(expected);
	else expect(actual).toBe(expected);
}

/** Waits until `isTrue` holds; fails after a long while with `what`. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = Date.now() + 30_000;
	while (!(await isTrue())) {
		if (Date.now() > deadline) throw new Error(`still not so after 30 s: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

/** True while a process runs; one that ended and was not collected does not. */
export async function isRunning(pid: number): Promise<boolean> {
	const { readFile } = await import("node:fs/promises");
	const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
	return stat !== "" && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}
