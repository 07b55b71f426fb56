import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { decodeText } from "./decoder.ts";
import { abortError, EnvironmentError, type GrepRequest, type GrepRow } from "./environment.ts";
import { splitRecords } from "./records.ts";

async function findBundled(): Promise<string[]> {
	try {
		return [(await import("@vscode/ripgrep")).rgPath];
	} catch {
		// Not every platform and bundle has it; the next places are as good.
		return [];
	}
}

/** The ripgrep program: the bundled one, else the one on `path`, else `undefined`. */
export async function findRipgrep(path: string | undefined): Promise<string | undefined> {
	const name = process.platform === "win32" ? "rg.exe" : "rg";
	const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
	for (const file of [...(await findBundled()), ...folders.map((folder) => join(folder, name))]) {
		const isProgram = await access(file, constants.X_OK).then(
			() => true,
			() => false,
		);
		if (isProgram) return file;
	}
	return undefined;
}

const modeFlags = {
	lines: ["--line-number"],
	files: ["--files-with-matches"],
	counts: ["--count"],
} satisfies Record<GrepRequest["mode"], string[]>;

// Only .gitignore files count, as in the built-in search; personal settings and other ignore files would make the
// results depend on the machine.
const fixedFlags =
	"--no-config --null --with-filename --no-heading --color=never --sort=path --crlf --no-ignore-dot --no-ignore-exclude --no-ignore-global".split(
		" ",
	);

function parseRow(line: Buffer, mode: GrepRequest["mode"]): GrepRow | undefined {
	const end = line.indexOf(0);
	if (end < 0) return undefined;
	const path = line.toString("utf8", 0, end);
	const rest = line.subarray(end + 1);
	if (mode === "counts") return { path, count: Number(rest.toString("utf8")) };
	const colon = rest.indexOf(0x3a);
	return { path, line: Number(rest.toString("utf8", 0, colon)), text: decodeText(rest.subarray(colon + 1)) };
}

/**
 * Searches with ripgrep; `inRepository` as for the rules of the built-in search. Gives rows in order of path and line. Leaving the loop early ends the program.
 *
 * Throws an `EnvironmentError` with ripgrep's own words for a pattern that it cannot read.
 */
export async function* searchWithRipgrep(
	program: string,
	request: GrepRequest,
	inRepository: boolean,
): AsyncGenerator<GrepRow> {
	const args = [
		...fixedFlags,
		...modeFlags[request.mode],
		...(inRepository ? [] : ["--no-require-git"]),
		...(request.ignoreCase ? ["--ignore-case"] : []),
		"--glob=!node_modules",
		"-e",
		request.pattern,
		"--",
		request.path,
	];
	const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: {} });
	const ended = new Promise<number | null>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
	ended.catch(() => child.stdout.destroy());
	const stop = () => child.kill("SIGKILL");
	request.signal?.addEventListener("abort", stop, { once: true });
	if (request.signal?.aborted) stop();
	let complaint = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		if (complaint.length < 10_000) complaint += text;
	});
	let found = false;
	try {
		const separator = request.mode === "files" ? 0 : 0x0a;
		for await (const record of splitRecords(child.stdout as AsyncIterable<Buffer>, separator)) {
			const row = request.mode === "files" ? { path: record.toString("utf8") } : parseRow(record, request.mode);
			if (!row) continue;
			found = true;
			yield row;
		}
		const code = await ended;
		if (request.signal?.aborted) throw abortError();
		if (code !== null && code > 1 && !found) throw new EnvironmentError("bad_pattern", complaint.trim());
	} finally {
		request.signal?.removeEventListener("abort", stop);
		stop();
	}
}
