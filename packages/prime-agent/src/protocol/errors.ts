/** Codes by which callers on the other side of a connection tell refusals apart. */
export type ErrorCode =
	| "unknown_operation"
	| "invalid_params"
	| "refused"
	| "busy"
	| "cancelled"
	| "storage_full"
	| "storage_failed"
	| "already_active"
	| "stale"
	| "not_found";

/** An error with a code that survives a process border. The message says what happened and what to do. */
export class AgentError extends Error {
	override name = "AgentError";
	readonly code: ErrorCode;
	constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.code = code;
	}
}
