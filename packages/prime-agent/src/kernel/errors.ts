/** One interpreter that was tried, and what it lacked. */
export interface Attempt {
	readonly python: string;
	readonly lacked: string;
}

/** No interpreter can serve as a kernel; the message names each one that was tried and what it lacked. */
export class KernelUnavailable extends Error {
	override name = "KernelUnavailable";
	readonly code = "kernel_unavailable";
	readonly attempts: readonly Attempt[];
	constructor(attempts: readonly Attempt[], advice: string) {
		const tried = attempts.map((attempt) => `  ${attempt.python}: ${attempt.lacked}`);
		const found = tried.length > 0 ? `Tried:\n${tried.join("\n")}` : "No Python was found.";
		super(`No Python can run the kernel. ${found}\n${advice}`);
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
