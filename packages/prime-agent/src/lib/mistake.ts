/** Whether an error tells of a mistake in the program, rather than of its user or the world around it. */
export function isMistake(error: unknown): boolean {
	if (!(error instanceof Error)) return true;
	// Errors of Node's own functions have a code, and most of them are about what a person passed in.
	if ("code" in error) return false;
	return [TypeError, ReferenceError, RangeError, SyntaxError].some((kind) => error instanceof kind);
}
