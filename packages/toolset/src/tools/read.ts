import { decodeText } from "../environment/decoder.ts";
import type { ExecutionEnvironment } from "../environment/environment.ts";
import { findImageType, isBinary, nameBinaryType } from "./media.ts";
import { type CodingTool, defineTool, describePath, type ToolAnswer, ToolFailure } from "./tool.ts";

const defaultLimit = 2000;
const largestFile = 256 * 1024 * 1024;
/** Of the chosen lines; more could not be shown anyway, and making text of them would stop everything for seconds. */
const mostShown = 32 * 1024 * 1024;
const largestImage = 5 * 1024 * 1024;

/** Which part of a file to show. */
export interface ReadRange {
	/** First line, counted from 1. */
	offset?: number | undefined;
	/** Number of lines. */
	limit?: number | undefined;
}

/** Where the lines of a text lie; a final line end makes no further line. Only the wanted lines become strings. */
class LineIndex {
	readonly #bytes: Uint8Array;
	readonly count: number;

	constructor(bytes: Uint8Array) {
		const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
		this.#bytes = hasMark ? bytes.subarray(3) : bytes;
		let ends = 0;
		for (let at = this.#bytes.indexOf(0x0a); at >= 0; at = this.#bytes.indexOf(0x0a, at + 1)) ends++;
		this.count = this.#bytes.length === 0 || this.#bytes.at(-1) === 0x0a ? ends : ends + 1;
	}

	/** The bytes of `count` lines from the line `first`, counted from 0, the last line end left out. */
	slice(first: number, count: number): Uint8Array {
		let start = 0;
		for (let line = 0; line < first; line++) start = this.#bytes.indexOf(0x0a, start) + 1;
		let end = start - 1;
		for (let line = 0; line < count; line++) {
			end = this.#bytes.indexOf(0x0a, end + 1);
			if (end < 0) return this.#bytes.subarray(start);
		}
		return this.#bytes.subarray(start, end);
	}
}

function splitLines(bytes: Uint8Array): string[] {
	return decodeText(bytes)
		.split("\n")
		.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Lines with their numbers, right-aligned to the width of the last one. */
export function numberLines(lines: string[], first: number): string {
	const width = String(first + lines.length - 1).length;
	return lines.map((line, index) => `${String(first + index).padStart(width)} | ${line}`).join("\n");
}

function showImage(path: string, bytes: Uint8Array, mediaType: string, hasVision: boolean): ToolAnswer {
	if (!hasVision) throw new ToolFailure(`${path} is an image (${mediaType}), and this model cannot see images.`);
	if (Math.ceil(bytes.length / 3) * 4 > largestImage) {
		throw new ToolFailure(`${path} is an image of ${bytes.length} bytes, too large to show (limit 5 MB encoded).`);
	}
	return { text: `${path}: image (${mediaType}, ${bytes.length} bytes)`, images: [{ bytes, mediaType }] };
}

/** What `read_file` answers for one file; throws a `ToolFailure` or the environment's error where it cannot be shown. */
async function showFile(
	environment: ExecutionEnvironment,
	path: string,
	range: ReadRange,
	hasVision: boolean,
	signal: AbortSignal,
): Promise<ToolAnswer> {
	const status = await environment.stat(path);
	if (!status) throw new ToolFailure(`${path}: not found`);
	if (status.kind === "directory") {
		throw new ToolFailure(`${path} is a directory. Find its files with glob.`);
	}
	if (status.size > largestFile) {
		throw new ToolFailure(
			`${path} has ${status.size} bytes, too many to read. Search it with grep or show parts of it with the shell.`,
		);
	}
	const bytes = await environment.readFile(path, signal);
	const image = findImageType(bytes);
	if (image) return showImage(path, bytes, image, hasVision);
	if (isBinary(bytes))
		throw new ToolFailure(`${path} is a ${nameBinaryType(bytes)} of ${bytes.length} bytes, not text.`);
	const index = new LineIndex(bytes);
	if (index.count === 0) return { text: `[${path} is empty]` };
	const first = Math.max(1, Math.floor(range.offset ?? 1));
	if (first > index.count) {
		throw new ToolFailure(`${path} has ${index.count} lines; offset ${first} is past its end.`);
	}
	const limit = range.limit !== undefined && range.limit >= 1 ? Math.floor(range.limit) : defaultLimit;
	const count = Math.min(limit, index.count - first + 1);
	const wanted = index.slice(first - 1, count);
	if (wanted.length > mostShown) {
		throw new ToolFailure(
			`Lines ${first} to ${first + count - 1} of ${path} have ${wanted.length} bytes, too many to show. Choose fewer lines with offset and limit, or cut them with the shell.`,
		);
	}
	const next = first + count;
	const rest = index.count - next + 1;
	const note = rest > 0 ? `\n[${rest} more lines; go on with offset ${next}]` : "";
	return { text: numberLines(splitLines(wanted), first) + note };
}

/** The tool that shows a file; `hasVision` says whether the model can see images. */
export function createReadTool(environment: ExecutionEnvironment, hasVision: boolean): CodingTool {
	return defineTool<{ file_path: string } & ReadRange>({
		name: "read_file",
		label: "read",
		toolClass: "read",
		description:
			"Shows a text file with line numbers (the numbers and the bar behind them are not part of the file), or an image. Shows 2000 lines unless limit says otherwise.",
		properties: {
			file_path: { type: "string", description: "Absolute path of the file." },
			offset: { type: "integer", description: "First line to show, counted from 1. Default: 1." },
			limit: { type: "integer", description: "Number of lines to show. Default: 2000." },
		},
		required: ["file_path"],
		describeCall: ({ file_path }) => describePath(environment, file_path),
		run: ({ file_path, offset, limit }, { signal }) =>
			showFile(environment, file_path, { offset, limit }, hasVision, signal),
	});
}

const mostPaths = 50;

/** The tool that shows several files at once. */
export function createReadManyTool(environment: ExecutionEnvironment, hasVision: boolean): CodingTool {
	return defineTool<{ paths: string[] }>({
		name: "read_many_files",
		label: "read",
		toolClass: "read",
		description: `Shows several files, each as read_file does, up to ${mostPaths}. A file that cannot be shown says why in its place.`,
		properties: {
			paths: { type: "array", items: { type: "string" }, description: "Absolute paths of the files." },
		},
		required: ["paths"],
		async describeCall({ paths }) {
			if (!Array.isArray(paths)) return "";
			return (await Promise.all(paths.map((path) => describePath(environment, path)))).join(" ");
		},
		async run({ paths }, { signal }) {
			if (paths.length === 0) throw new ToolFailure("paths is empty.");
			if (paths.length > mostPaths) throw new ToolFailure(`At most ${mostPaths} paths; ${paths.length} were given.`);
			const sections: string[] = [];
			const images: ToolAnswer["images"] = [];
			let failures = 0;
			for (const path of paths) {
				try {
					const answer = await showFile(environment, path, {}, hasVision, signal);
					sections.push(`=== ${path} ===\n${answer.text}`);
					images.push(...(answer.images ?? []));
				} catch (error) {
					signal.throwIfAborted();
					failures++;
					sections.push(`=== ${path} ===\n[error: ${error instanceof Error ? error.message : String(error)}]`);
				}
			}
			return { text: sections.join("\n\n"), images, isError: failures === paths.length };
		},
	});
}
