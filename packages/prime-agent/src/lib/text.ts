/** The message of anything that was thrown. */
export function errorText(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Keeps the beginning and the end of a text within about `limit` characters and says how much is missing. */
export function cutMiddle(text: string, limit: number): string {
	if (text.length <= limit) return text;
	const half = Math.max(0, Math.floor(limit / 2) - 20);
	const missing = text.length - 2 * half;
	// A cut through a character leaves half of it, which no server takes.
	return `${text.slice(0, half)}\n[… ${missing} characters cut …]\n${text.slice(text.length - half)}`.toWellFormed();
}
