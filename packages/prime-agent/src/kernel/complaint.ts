/** The line that says what is wrong: the last one of a traceback, the first one of another program. */
export function complaintOf(said: string): string {
	return said.includes("Traceback (most recent call last)") ? lastLine(said) : (said.trim().split("\n", 1)[0] ?? "");
}

/** The last line of a text that is not empty. */
export function lastLine(text: string): string {
	const trimmed = text.trimEnd();
	return trimmed.slice(trimmed.lastIndexOf("\n") + 1).trim();
}
