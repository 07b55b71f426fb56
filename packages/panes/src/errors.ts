/** Why a command failed, as printed in the JSON error envelope. */
export type PaneErrorCode =
	| "usage"
	| "pane_missing"
	| "session_missing"
	| "tmux"
	| "unknown_provider"
	| "unknown_selector"
	| "no_capability"
	| "config"
	| "prompt_missing"
	| "not_ready"
	| "no_echo"
	| "no_reaction"
	| "refused"
	| "unverified"
	| "not_confirmed"
	| "unobservable"
	| "gone"
	| "mid_stage"
	| "wrong_mode"
	| "already_running"
	| "no_record"
	| "blocked"
	| "died_at_start"
	| "start_timeout"
	| "hooks";

/** Base of every expected failure: says what happened, what to do next, and carries a stable code. */
export class PaneError extends Error {
	readonly code: PaneErrorCode;
	/** Screen text that explains the failure; printed below the message. */
	readonly snippet: string | undefined;

	constructor(code: PaneErrorCode, message: string, options: { cause?: unknown; snippet?: string } = {}) {
		super(message, options.cause === undefined ? undefined : { cause: options.cause });
		this.name = "PaneError";
		this.code = code;
		this.snippet = options.snippet;
	}
}

/** A wrong flag, argument count or combination; the message shows the accepted form. */
export class UsageError extends PaneError {
	constructor(message: string) {
		super("usage", message);
		this.name = "UsageError";
	}
}

/** The pane does not exist, is dead, or the target was not an exact id. */
export class PaneMissing extends PaneError {
	constructor(target: string, why = "no such pane") {
		super("pane_missing", `${target}: ${why}. List the live panes with: agent-tmux map --all-sessions`);
		this.name = "PaneMissing";
	}
}

/** tmux could not be started, its server could not be reached, or it refused a command. */
export class TmuxError extends PaneError {
	constructor(message: string, options: { cause?: unknown } = {}) {
		super("tmux", message, options);
		this.name = "TmuxError";
	}
}
