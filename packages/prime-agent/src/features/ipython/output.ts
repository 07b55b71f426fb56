import type { ImageContent, TextContent } from "@earendil-works/pi-ai";
import { cutMiddle } from "../../lib/text.ts";
import type { CellResult, MimeBundle } from "../../session/ports.ts";

/** Most characters of one cell that reach the model; what is longer is cut in the middle. */
export const MAX_OUTPUT = 24_000;

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** What the model reads of a cell: output, value, error, in the order of a notebook. */
export function renderCell(cell: CellResult): (TextContent | ImageContent)[] {
	const parts: string[] = [];
	const images: ImageContent[] = [];
	if (cell.kernelRestarted) {
		parts.push("[The kernel had ended and was started anew: all variables from before are gone.]\n");
	}
	parts.push(withNewline(cell.stdout));
	if (cell.stderr) parts.push(withNewline(cell.stdout ? `[stderr]\n${cell.stderr}` : cell.stderr));
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

function endingOf(cell: CellResult): string {
	switch (cell.status) {
		case "ok":
			return "";
		case "error":
			return cell.error ? withNewline(cell.error.traceback.join("\n")) : "[The cell failed.]\n";
		case "interrupted":
			return "[The cell was interrupted; variables are kept.]\n";
		case "timeout":
			return "[The cell ran into its time limit and was stopped. Start long jobs in the background.]\n";
		case "dead":
			return "[The kernel ended while the cell ran; the next cell gets a new one without the variables.]\n";
	}
}

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
