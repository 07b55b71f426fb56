/** The stream that a mode writes to. */
export type Output = NodeJS.WritableStream;

/** What a stream says once nobody reads it any more; there is nobody to tell then. */
const READER_GONE = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/** Resolves when the stream has taken the text or lost its reader; otherwise with the reason why it did not take it. */
export function write(output: Output, text: string): Promise<string | undefined> {
	return new Promise((fulfil) => {
		output.write(text, (error?: NodeJS.ErrnoException | null) => {
			const isTaken = !error || READER_GONE.has(error.code ?? "");
			fulfil(isTaken ? undefined : `The output cannot be written: ${error.message}.`);
		});
	});
}
