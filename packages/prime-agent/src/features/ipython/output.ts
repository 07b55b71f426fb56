import type { ImageContent, TextContent } from "@earendil-works/pi-ai";
import { cutMiddle } from "../../lib/text.ts";
import type { CellResult, MimeBundle } from "../../session/ports.ts";
import { describeRestart } from "./restart.ts";

/** Most characters of one cell that reach the model; what is longer is cut in the middle. */
export const MAX_OUTPUT = 24_000;

/** Of these at most for both output streams, so that the mark below does not end up in what is cut of the whole. */
const STREAMS_OUTPUT = MAX_OUTPUT - 1_000;

/** What a kernel puts in the place of output that it did not keep; it may name the file that holds everything. */
const MARK = /\n\[\.\.\. [\d,]+ (?:bytes|characters) left out[^\n]*\.\.\.\]\n/;

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** What the model reads of a cell: output, value, error, in the order of a notebook. */
export function renderCell(cell: CellResult): (TextContent | ImageContent)[] {
	const parts: string[] = [];
	const images: ImageContent[] = [];
	if (cell.kernelRestarted) parts.push(describeRestart(cell.restart));
	const stderr = cutOutput(cell.stderr, STREAMS_OUTPUT / 2);
	const stdout = cutOutput(cell.stdout, STREAMS_OUTPUT - stderr.length);
	parts.push(withNewline(stdout));
	if (stderr) parts.push(withNewline(stdout ? `[stderr]\n${stderr}` : stderr));
	for (const bundle of cell.displays) {
		const image = imageOf(bundle);
		if (image) images.push(image);
		else parts.push(withNewline(textOf(bundle)));
	}
	if (cell.result !== undefined) parts.push(withNewline(cell.result));
	parts.push(endingOf(cell));
	if (cell.droppedBytes > 0) parts.push(`[${cell.droppedBytes} bytes of output were dropped]\n`);
	const text = cutMiddle(parts.join(""), MAX_OUTPUT);
	return [{ type: "text", text: text || (images.length > 0 ? "[image]" : "[no output]") }, ...images];
}

/** Shortens one output stream; where the kernel left something out, its mark stays. */
export function cutOutput(text: string, limit: number): string {
	const mark = text.length > limit ? MARK.exec(text) : null;
	if (!mark) return cutMiddle(text, limit);
	const [before, after] = [text.slice(0, mark.index), text.slice(mark.index + mark[0].length)];
	const half = Math.floor(limit / 2);
	const hidden = Math.max(0, before.length - half) + Math.max(0, after.length - half);
	const note = hidden > 0 ? `[… and ${hidden} characters around it …]\n` : "";
	return `${before.slice(0, half)}${mark[0]}${note}${after.slice(-half)}`.toWellFormed();
}

/** What the kernel says about the end of a cell is nearest to what happened; the rest says what it means. */
function endingOf({ status, error }: CellResult): string {
	if (status === "ok") return "";
	if (status === "error") return error ? withNewline(error.traceback.join("\n")) : "[The cell failed.]\n";
	const then = status === "dead" && error?.value ? `\n${NEXT_KERNEL}` : "";
	return `[${error?.value || ENDINGS[status]}${then}]\n`;
}

const NEXT_KERNEL = "The next cell gets a new kernel and says which variables it has. This cell is not run again.";

const ENDINGS = {
	interrupted: "The cell was interrupted.",
	timeout: "The cell ran into its time limit and was stopped. Start long jobs in the background.",
	dead: `The kernel ended while the cell ran. ${NEXT_KERNEL}`,
} as const;

function imageOf(bundle: MimeBundle): ImageContent | undefined {
	const mimeType = IMAGES.find((type) => typeof bundle[type] === "string");
	return mimeType && { type: "image", mimeType, data: String(bundle[mimeType]).replace(/\s/g, "") };
}

function textOf(bundle: MimeBundle): string {
	const text = bundle["text/plain"] ?? bundle["text/markdown"] ?? bundle["text/html"];
	return text === undefined ? `[${Object.keys(bundle).join(", ")}]` : String(text);
}

function withNewline(text: string): string {
	return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
