import type { AgentEvent } from "@prime-agent/loop";
import type { Entry } from "./entry.ts";

/** How far one queued action has come. */
export type ActionStage =
	| "queued"
	| "selected"
	| "preparing"
	| "committing"
	| "running"
	| "completed"
	| "failed"
	| "cancelled";

/** When an action is delivered: at the next turn boundary, at the end of the run, or as a quiet notice. */
export type Lane = "steer" | "followUp" | "notice";

/** What waits and what runs, as people see it. */
export interface SessionActionSnapshot {
	readonly queuedCount: number;
	readonly steering: readonly string[];
	readonly followUps: readonly string[];
	readonly active?: { readonly kind: "turn" | "session_command"; readonly phase: ActionStage; readonly label?: string };
}

/** Something live and not kept. Entries travel as `entry_appended` after they were written. */
export type SessionEvent =
	| AgentEvent
	| { readonly type: "session_action_update"; readonly actions: SessionActionSnapshot }
	| { readonly type: "entry_appended"; readonly entry: Entry }
	| { readonly type: "feature_error"; readonly feature: string; readonly during: string; readonly error: string }
	| { readonly type: "notice"; readonly level: "info" | "warning"; readonly text: string }
	| FeatureEvent;

/** An event of a feature under its specified name, as `goal_update`; JSON lines carry `{ type: name, ...data }`. */
export interface FeatureEvent {
	readonly type: "feature_event";
	readonly name: string;
	readonly data: Readonly<Record<string, unknown>>;
}
