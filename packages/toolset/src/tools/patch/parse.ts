import { ToolFailure } from "../tool.ts";

/** One place of a file that a patch changes. */
export interface PatchChunk {
	/** Texts of lines that come before the place, outermost first. */
	hints: string[];
	/** Context and removed lines, in order. */
	old: string[];
	/** Context and added lines, in order; `context` is the index in `old` of a line that stays. */
	new: { text: string; context?: number }[];
	/** The place is the end of the file. */
	atEnd: boolean;
}

/** One file operation of a patch. */
export type PatchOperation =
	| { kind: "add"; path: string; lines: string[] }
	| { kind: "delete"; path: string }
	| { kind: "update"; path: string; moveTo?: string; chunks: PatchChunk[] };

const beginMarker = "*** Begin Patch";
const endMarker = "*** End Patch";
const endOfFileMarker = "*** End of File";
const moveMarker = "*** Move to: ";
const headers = { add: "*** Add File: ", delete: "*** Delete File: ", update: "*** Update File: " } as const;

/** Takes away what models put around a patch: a here-document, a Markdown fence, blank lines. */
function unwrap(text: string): string {
	let inner = text.replaceAll("\r\n", "\n").trim();
	const fence = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(inner);
	if (fence) inner = fence[1]!.trim();
	const hereDocument = /^(?:apply_patch\s+)?<<-?\s*(?:'(\w+)'|"(\w+)"|(\w+))[^\n]*\n([\s\S]*)$/.exec(inner);
	if (hereDocument) {
		const word = hereDocument[1] ?? hereDocument[2] ?? hereDocument[3]!;
		const lines = hereDocument[4]!.trimEnd().split("\n");
		if (lines.at(-1)?.trim() === word) inner = lines.slice(0, -1).join("\n").trim();
	}
	return inner;
}

function readHeader(line: string): { kind: keyof typeof headers; path: string } | undefined {
	const text = line.trim();
	for (const kind of ["add", "delete", "update"] as const) {
		if (text.startsWith(headers[kind])) return { kind, path: text.slice(headers[kind].length).trim() };
	}
	return undefined;
}

/** A cursor over the lines between the two outer markers. */
class PatchReader {
	readonly #lines: string[];
	#at = 1;

	constructor(lines: string[]) {
		this.#lines = lines;
	}

	get line(): string | undefined {
		return this.#at < this.#lines.length - 1 ? this.#lines[this.#at] : undefined;
	}

	next(): void {
		this.#at++;
	}

	fail(problem: string): never {
		throw new ToolFailure(`The patch is not valid at line ${this.#at + 1}: ${problem} Nothing was changed.`);
	}

	skipBlank(): void {
		while (this.line?.trim() === "") this.next();
	}

	/** Whether the blank lines from here on are followed by a marker, so that they belong to nothing. */
	isGap(): boolean {
		let at = this.#at;
		while (at < this.#lines.length - 1 && this.#lines[at]!.trim() === "") at++;
		if (at === this.#at) return false;
		const line = this.#lines[at];
		return at === this.#lines.length - 1 || line === undefined || line.startsWith("***") || line.startsWith("@@");
	}
}

function readAddedFile(reader: PatchReader): string[] {
	const lines: string[] = [];
	for (;;) {
		if (reader.line === undefined || reader.line.startsWith("***") || reader.isGap()) return lines;
		if (!reader.line.startsWith("+")) reader.fail("every line of an added file begins with +.");
		lines.push(reader.line.slice(1));
		reader.next();
	}
}

function readHints(reader: PatchReader): string[] {
	const hints: string[] = [];
	while (reader.line !== undefined && /^@@($| )/.test(reader.line.trimEnd())) {
		const hint = reader.line.trimEnd().slice(3).replace(/ ?@@$/, "");
		if (hint.trim() !== "") hints.push(hint);
		reader.next();
	}
	return hints;
}

function readChunk(reader: PatchReader, isFirst: boolean): PatchChunk {
	if (!isFirst && !/^@@($| )/.test(reader.line?.trimEnd() ?? "")) reader.fail("a further chunk begins with @@.");
	const chunk: PatchChunk = { hints: readHints(reader), old: [], new: [], atEnd: false };
	for (; reader.line !== undefined; reader.next()) {
		const line = reader.line;
		if (line.trimEnd() === endOfFileMarker) {
			chunk.atEnd = true;
			reader.next();
			break;
		}
		if (line.startsWith("***") || /^@@($| )/.test(line.trimEnd()) || reader.isGap()) break;
		const text = line.slice(1);
		if (line === "" || line.startsWith(" ")) {
			chunk.new.push({ text, context: chunk.old.length });
			chunk.old.push(text);
		} else if (line.startsWith("-")) chunk.old.push(text);
		else if (line.startsWith("+")) chunk.new.push({ text });
		else reader.fail("a line of a chunk begins with a blank, + or -.");
	}
	if (chunk.old.length === 0 && chunk.new.length === 0) reader.fail("a chunk without lines.");
	return chunk;
}

function readUpdate(reader: PatchReader, path: string): PatchOperation {
	let moveTo: string | undefined;
	if (reader.line?.trim().startsWith(moveMarker)) {
		moveTo = reader.line.trim().slice(moveMarker.length).trim();
		reader.next();
	}
	const chunks: PatchChunk[] = [];
	for (;;) {
		reader.skipBlank();
		if (reader.line === undefined || readHeader(reader.line)) break;
		chunks.push(readChunk(reader, chunks.length === 0));
	}
	if (chunks.length === 0 && moveTo === undefined) reader.fail(`the update of ${path} has no chunk.`);
	return { kind: "update", path, chunks, ...(moveTo === undefined ? {} : { moveTo }) };
}

function readOperation(reader: PatchReader): PatchOperation {
	const header = readHeader(reader.line ?? "");
	if (!header) reader.fail("expected *** Add File:, *** Delete File: or *** Update File:.");
	if (header.path === "") reader.fail("the path is missing.");
	reader.next();
	if (header.kind === "add") return { kind: "add", path: header.path, lines: readAddedFile(reader) };
	if (header.kind === "delete") return { kind: "delete", path: header.path };
	return readUpdate(reader, header.path);
}

/** The operations of a patch text in order; throws a `ToolFailure` that names the line where it cannot be read. */
export function parsePatch(text: string): PatchOperation[] {
	const lines = unwrap(text).split("\n");
	if (lines[0]?.trim() !== beginMarker) {
		throw new ToolFailure(`The patch is not valid: its first line has to be "${beginMarker}". Nothing was changed.`);
	}
	if (lines.length < 2 || lines.at(-1)?.trim() !== endMarker) {
		throw new ToolFailure(`The patch is not valid: its last line has to be "${endMarker}". Nothing was changed.`);
	}
	const reader = new PatchReader(lines);
	const operations: PatchOperation[] = [];
	for (reader.skipBlank(); reader.line !== undefined; reader.skipBlank()) operations.push(readOperation(reader));
	if (operations.length === 0) throw new ToolFailure("The patch has no operation: no files were modified.");
	return operations;
}

/** The paths that a patch text names, also where the rest of it is not valid. */
export function listPatchPaths(text: string): string[] {
	const paths: string[] = [];
	for (const line of text.split("\n")) {
		const trimmed = line.trim();
		const header = readHeader(trimmed);
		if (header) paths.push(header.path);
		else if (trimmed.startsWith(moveMarker)) paths.push(trimmed.slice(moveMarker.length).trim());
	}
	return paths;
}
