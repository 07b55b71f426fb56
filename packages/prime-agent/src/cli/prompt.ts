import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import type { HeadlessPrompt } from "../modes/headless.ts";
import { UsageError } from "./errors.ts";
import { readPromptBytes } from "./prompt-file.ts";

type Note = (line: string) => void;

type Image = HeadlessPrompt["images"][number];

/**
 * Puts a prompt together: what was piped in, then the files in their order, then the words.
 * @throws {UsageError} when there is nothing to say, or a file cannot be sent.
 */
export async function buildPrompt(parts: {
	readonly piped: string;
	readonly files: readonly string[];
	readonly words: string;
	/** Relative paths count from here. */
	readonly cwd: string;
	/** Calls the reading of files off. */
	readonly signal: AbortSignal;
	/** Takes a line that a person should read. */
	readonly note: Note;
}): Promise<HeadlessPrompt> {
	const blocks: string[] = [];
	const images: Image[] = [];
	if (parts.piped.trim() !== "") blocks.push(`<stdin>\n${parts.piped.trimEnd()}\n</stdin>`);
	for (const file of parts.files) {
		const path = resolve(parts.cwd, file);
		const content = await readPromptFile(path, parts.signal, parts.note);
		if (typeof content === "string") blocks.push(`<file name="${path}">\n${content.trimEnd()}\n</file>`);
		else {
			blocks.push(`<file name="${path}">(image)</file>`);
			images.push(content);
		}
	}
	if (parts.words.trim() !== "") blocks.push(parts.words);
	if (blocks.length === 0) {
		throw new UsageError('There is no prompt. Give one, prime-agent -p "What is in this folder?", or pipe one in.');
	}
	return { text: blocks.join("\n\n"), images };
}

/** The text of bytes that should be UTF-8; where they are not, a person is told. */
export function decodeText(bytes: Buffer, what: string, note: Note): string {
	if (!isUtf8(bytes)) note(`Warning: ${what} is not UTF-8; the prompt has "\uFFFD" where it cannot be read.`);
	return bytes.toString("utf8");
}

async function readPromptFile(path: string, signal: AbortSignal, note: Note): Promise<string | Image> {
	let bytes: Buffer;
	try {
		bytes = await readPromptBytes(path, signal);
	} catch (error) {
		if (error instanceof UsageError || signal.aborted) throw error;
		const code = (error as NodeJS.ErrnoException).code;
		const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? String(error)})`;
		throw new UsageError(`The file @${path} ${why}. Text that begins with @ can follow after --.`, { cause: error });
	}
	const mimeType = imageType(bytes);
	if (mimeType) return { type: "image", data: bytes.toString("base64"), mimeType };
	if (bytes.includes(0)) throw new UsageError(`The file @${path} is neither text nor an image that models take.`);
	return decodeText(bytes, `The file @${path}`, note);
}

/** The kind of image that the first bytes tell, or undefined for anything else. */
function imageType(bytes: Buffer): string | undefined {
	const head = bytes.toString("latin1", 0, 12);
	if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
	if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
	if (/^GIF8[79]a/.test(head)) return "image/gif";
	return head.startsWith("RIFF") && head.slice(8) === "WEBP" ? "image/webp" : undefined;
}
