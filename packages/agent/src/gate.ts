import { type AskApproval, PermissionGate, type PermissionLevel } from "@prime-agent/toolset";

/** One call that wants to run. */
export type GatedCall = Parameters<PermissionGate["check"]>[0];

/** What the calls of a run may do, and who is told of those that may not. */
interface GateOptions {
	level: PermissionLevel;
	/** Whether the user wants no questions. */
	autoApprove: boolean;
	/** Asks the user; absent without a terminal and with `autoApprove`. */
	ask: AskApproval | undefined;
	/** Takes every refused call with the reason for people. */
	onRefusal: (call: GatedCall, reason: string) => void;
}

/** A gate that leaves a trace of every refusal and tells the model why nobody was asked. */
export class AgentGate extends PermissionGate {
	readonly #options: GateOptions;

	constructor(options: GateOptions) {
		super(options.level, options.ask);
		this.#options = options;
	}

	override async check(call: GatedCall, signal?: AbortSignal): Promise<string | undefined> {
		const reason = await super.check(call, signal);
		if (reason === undefined) return undefined;
		const { ask, autoApprove, onRefusal } = this.#options;
		if (ask) {
			onRefusal(call, signal?.aborted ? "the run was stopped" : "not approved");
			return reason;
		}
		const why = autoApprove ? "--auto-approve asks nobody" : "without a terminal nobody can be asked";
		onRefusal(call, `not allowed by --permissions ${this.level}, and ${why}`);
		if (!autoApprove) return reason;
		return `${call.label} tool denied at current permission level (${this.level}, and nobody is asked: the user has passed --auto-approve). Find another way, or report what is missing.`;
	}
}
