import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { decodeText } from "./decoder.ts";
import { abortError, EnvironmentError, type GrepRequest, type GrepRow } from "./environment.ts";
import { compareText } from "./files.ts";
import { addRules, collectRules, type IgnoreRules, isIgnored } from "./ignore-rules.ts";

/** A pattern that takes longer than this over one search is given up. */
const searchLimitMs = 20_000;

// Text, not a file: the worker must run alike from source and from a bundle.
const workerSource = `
const { parentPort, workerData } = require("node:worker_threads");
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", (lines) => {
	const found = [];
	for (let at = 0; at < lines.length; at++) if (pattern.test(lines[at])) found.push(at);
	parentPort.postMessage(found);
});`;

/** Tests lines away from the main thread, so that a pattern that backtracks for ever can be stopped. */
class LineMatcher {
	readonly #worker: Worker;
	readonly #signal: AbortSignal | undefined;
	#answer: PromiseWithResolvers<number[]> | undefined;

	constructor(pattern: RegExp, signal: AbortSignal | undefined) {
		this.#signal = signal;
		this.#worker = new Worker(workerSource, {
			eval: true,
			workerData: { source: pattern.source, flags: pattern.flags },
		});
		this.#worker.on("message", (found: number[]) => this.#answer?.resolve(found));
		this.#worker.on("error", (error) => this.#answer?.reject(error));
	}

	/** The indexes of the lines that match; one call at a time. */
	async match(lines: string[], deadline: number): Promise<number[]> {
		if (this.#signal?.aborted) throw abortError();
		const answer = Promise.withResolvers<number[]>();
		this.#answer = answer;
		const tooLong = new EnvironmentError("failed", "The pattern takes too long; use a simpler one.");
		const timer = setTimeout(() => answer.reject(tooLong), Math.max(0, deadline - performance.now()));
		const onAbort = () => answer.reject(abortError());
		this.#signal?.addEventListener("abort", onAbort, { once: true });
		try {
			this.#worker.postMessage(lines);
			return await answer.promise;
		} finally {
			clearTimeout(timer);
			this.#signal?.removeEventListener("abort", onAbort);
		}
	}

	async stop(): Promise<void> {
		await this.#worker.terminate();
	}
}

/** The pattern as a JavaScript one; leading inline flags as in `(?i)` are understood. */
function compilePattern(request: GrepRequest): RegExp {
	const inline = /^\(\?([ims]+)\)/.exec(request.pattern);
	const source = inline ? request.pattern.slice(inline[0].length) : request.pattern;
	const flags = new Set(`${inline?.[1] ?? ""}${request.ignoreCase ? "i" : ""}`);
	const all = [...flags].join("");
	for (const mode of ["u", ""]) {
		try {
			return new RegExp(source, all + mode);
		} catch (error) {
			if (mode === "") throw new EnvironmentError("bad_pattern", (error as Error).message, error);
		}
	}
	throw new EnvironmentError("bad_pattern", `The pattern ${request.pattern} cannot be read.`);
}

const sniffedBytes = 64 * 1024;

/** The lines of a text file without their ends; `undefined` for a binary file. */
async function readLines(path: string): Promise<string[] | undefined> {
	const bytes = await readFile(path);
	let text: string;
	if (bytes[0] === 0xff && bytes[1] === 0xfe) text = bytes.toString("utf16le", 2);
	else if (bytes.subarray(0, sniffedBytes).includes(0)) return undefined;
	else text = decodeText(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes);
	const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
	if (lines.at(-1) === "") lines.pop();
	return lines;
}

async function* walkFiles(folder: string, rules: IgnoreRules, signal?: AbortSignal): AsyncGenerator<string> {
	if (signal?.aborted) throw abortError();
	const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
	for (const entry of entries.sort((a, b) => compareText(a.name, b.name))) {
		const path = join(folder, entry.name);
		if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
		if (!entry.isDirectory() && !entry.isFile()) continue;
		if (isIgnored(rules, path, entry.isDirectory())) continue;
		if (entry.isFile()) yield path;
		else yield* walkFiles(path, await addRules(rules, path), signal);
	}
}

/**
 * Searches without ripgrep, with the same rows for the same tree as far as JavaScript's regular expressions agree with
 * ripgrep's. Leaving the loop early stops the search.
 */
export async function* searchText(request: GrepRequest, isFile: boolean): AsyncGenerator<GrepRow> {
	const matcher = new LineMatcher(compilePattern(request), request.signal);
	const deadline = performance.now() + searchLimitMs;
	try {
		const files = isFile ? [request.path] : walkFiles(request.path, await collectRules(request.path), request.signal);
		for await (const path of files) {
			const lines = await readLines(path).catch(() => undefined);
			if (!lines) continue;
			const found = await matcher.match(lines, deadline);
			if (found.length === 0) continue;
			if (request.mode === "files") yield { path };
			else if (request.mode === "counts") yield { path, count: found.length };
			else for (const at of found) yield { path, line: at + 1, text: lines[at]! };
		}
	} finally {
		await matcher.stop();
	}
}
