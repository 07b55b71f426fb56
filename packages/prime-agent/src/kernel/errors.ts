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
		super(`The Python kernel cannot start.${listAttempts(attempts)}\n${advice}`);
		this.attempts = attempts;
	}
}

/** The environment for the kernel could not be made; what was there before is untouched. */
export class KernelInstallFailed extends Error {
	override name = "KernelInstallFailed";
	readonly code = "kernel_install_failed";
	constructor(what: string, attempts: readonly Attempt[], advice: string, options?: ErrorOptions) {
		super(`${what}${listAttempts(attempts)}\n${advice}`, options);
	}
}

function listAttempts(attempts: readonly Attempt[]): string {
	const tried = attempts.map((attempt) => `\n  ${attempt.python}: ${attempt.lacked}`);
	return tried.length > 0 ? `\nTried:${tried.join("")}` : "";
}

/** The kernel was used after `dispose()`. */
export class KernelClosed extends Error {
	override name = "KernelClosed";
	readonly code = "kernel_closed";
	constructor() {
		super("The kernel of this session has been closed. Start a new session to run code.");
	}
}
