/** The stream that a mode writes to. */
export type Output = NodeJS.WritableStream;

/** Resolves when the stream has taken the text, or has lost its reader. */
export function write(output: Output, text: string): Promise<void> {
	return new Promise((fulfil) => {
		output.write(text, () => fulfil());
	});
}
