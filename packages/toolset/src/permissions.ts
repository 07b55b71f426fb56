import type { ToolClass } from "./tools/tool.ts";

/** What an agent may do without asking; each level includes the ones before it. */
export const permissionLevels = ["read-only", "read-write", "full"] as const;

/** One of `permissionLevels`. */
export type PermissionLevel = (typeof permissionLevels)[number];

/** The lowest level at which tools of a class need no approval; subagents ask for their own calls instead. */
const freeFrom: Record<ToolClass, PermissionLevel> = {
	read: "read-only",
	subagent: "read-only",
	write: "read-write",
	shell: "full",
};

function isAtLeast(level: PermissionLevel, needed: PermissionLevel): boolean {
	return permissionLevels.indexOf(level) >= permissionLevels.indexOf(needed);
}

/** What a person decides about one call: this one, not this one, or from now on all of its kind. */
export type ApprovalAnswer = "yes" | "no" | "always";

/** One call that waits for a person. */
export interface ApprovalRequest {
	/** The tool's name for people. */
	label: string;
	/** What the call is about, whole: it may have several lines and any characters. */
	subject: string;
}

/** Asks a person; called for one request at a time. Must settle soon after `signal` aborts. */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal | undefined) => Promise<ApprovalAnswer>;

/** One call that wants to run. */
export interface GatedCall extends ApprovalRequest {
	toolClass: ToolClass;
}

/**
 * Decides which calls may run, for a session and all of its subagents together. Without `ask` nobody can approve
 * anything, and what the level does not allow is refused. The level rises only by the answer `always`.
 */
export class PermissionGate {
	#level: PermissionLevel;
	readonly #ask: AskApproval | undefined;
	#last: Promise<unknown> = Promise.resolve();

	constructor(level: PermissionLevel, ask?: AskApproval) {
		this.#level = level;
		this.#ask = ask;
	}

	/** The level that holds now. */
	get level(): PermissionLevel {
		return this.#level;
	}

	/** `undefined` when the call may run, otherwise the reason for the model. Questions never overlap. */
	async check(call: GatedCall, signal?: AbortSignal): Promise<string | undefined> {
		if (this.#isFree(call)) return undefined;
		const ask = this.#ask;
		if (!ask) {
			return `${call.label} tool denied at current permission level (${this.#level}, and nobody can be asked: the session is not interactive). Find another way, or report what is missing.`;
		}
		const decision = this.#last.then(() => this.#decide(call, ask, signal));
		this.#last = decision.catch(() => undefined);
		return decision;
	}

	#isFree(call: GatedCall): boolean {
		return isAtLeast(this.#level, freeFrom[call.toolClass]);
	}

	async #decide(call: GatedCall, ask: AskApproval, signal: AbortSignal | undefined): Promise<string | undefined> {
		// An answer to an earlier question may have raised the level.
		if (this.#isFree(call)) return undefined;
		if (signal?.aborted) return `${call.label} tool not run: the session was aborted`;
		const answer = await ask({ label: call.label, subject: call.subject }, signal);
		if (answer === "always") this.#level = freeFrom[call.toolClass];
		return answer === "no" ? `${call.label} tool denied by user at current permission level` : undefined;
	}
}
