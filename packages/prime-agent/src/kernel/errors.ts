/** One interpreter that was tried, and what it lacked. */
export interface Attempt {
	readonly python: string;
	readonly lacked: string;
}

/** No kernel can be started; the message names each interpreter that was tried and what it lacked. */
export class KernelUnavailable extends Error {
	override name = "KernelUnavailable";
	readonly code = "kernel_unavailable";
	readonly attempts: readonly Attempt[];
	constructor(attempts: readonly Attempt[], advice: string) {
		const tried = attempts.map((attempt) => `\n  ${attempt.python}: ${attempt.lacked}`);
		const found = tried.length > 0 ? `\nTried:${tried.join("")}` : "";
		super(`The Python kernel cannot start.${found}\n${advice}`);
		this.attempts = attempts;
	}
}

/** The kernel was used after `dispose()`. */
export class KernelClosed extends Error {
	override name = "KernelClosed";
	readonly code = "kernel_closed";
	constructor() {
		super("The kernel of this session has been closed. Start a new session to run code.");
	}
}
