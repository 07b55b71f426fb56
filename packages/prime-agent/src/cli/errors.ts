/** The command line asks for something that is not there; the message says what to do instead. */
export class UsageError extends Error {
	override name = "UsageError";
	readonly code = "usage";
}
