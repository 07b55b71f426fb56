/** Version of the session format that is written; files of version 3 are read. */
export const SESSION_VERSION = 3;

/** State of the working tree when the session began, where it lies in a git repository. */
export interface GitContext {
	readonly branch?: string;
	readonly commit?: string;
	readonly dirty?: boolean;
}

/** First line of a session file. */
export interface SessionHeader {
	readonly type: "session";
	readonly version: number;
	/** uuid version 7; also the name of the file. */
	readonly id: string;
	/** ISO 8601, UTC. */
	readonly timestamp: string;
	/** Absolute working directory. */
	readonly cwd: string;
	/** File of the session that this one was forked from. */
	readonly parentSession?: string;
	/** 0 for a root session. */
	readonly rlmDepth: number;
	readonly git?: GitContext;
}

/** What every entry has. `id` is 8 hex digits, unique in its file; parents form the tree. */
export interface EntryBase {
	readonly type: string;
	readonly id: string;
	readonly parentId: string | null;
	/** ISO 8601, UTC. */
	readonly timestamp: string;
}

/** The model that replies from here on; the newest on the branch counts when a session goes on. */
export interface ModelChangeEntry extends EntryBase {
	readonly type: "model_change";
	readonly provider: string;
	readonly modelId: string;
}

/** How hard the model thinks from here on, from `off` to `max`. */
export interface ThinkingLevelChangeEntry extends EntryBase {
	readonly type: "thinking_level_change";
	readonly thinkingLevel: string;
}

/** State of one feature; `customType` says whose. Not shown to the model. */
export interface CustomEntry extends EntryBase {
	readonly type: "custom";
	readonly customType: string;
	readonly data: unknown;
}

/** A message that a feature says to the model in the user's place. */
export interface CustomMessageEntry extends EntryBase {
	readonly type: "custom_message";
	readonly customType: string;
	readonly content: string;
	/** Whether a person sees it in the transcript. */
	readonly display: boolean;
	readonly details?: unknown;
}

/** Older messages replaced by a summary; the model sees the summary and everything from `firstKeptEntryId` on. */
export interface CompactionEntry extends EntryBase {
	readonly type: "compaction";
	readonly summary: string;
	readonly firstKeptEntryId: string;
	readonly tokensBefore: number;
	readonly customInstructions?: string;
	readonly details?: unknown;
}

/** What was left behind on another branch, in words. */
export interface BranchSummaryEntry extends EntryBase {
	readonly type: "branch_summary";
	readonly fromId: string;
	readonly summary: string;
	readonly details?: unknown;
}

/** One immutable line of a session file after its header; kinds that this version does not know are kept and skipped. */
export type Entry = EntryBase & Readonly<Record<string, unknown>>;

/** The kinds that lie beside the conversation: they are written at the leaf but never become it. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
	"session_state",
	"session_info",
	"label",
	"agent_status",
	"git_state",
	"child_usage_attributed",
]);

/** Whether an entry of this kind leaves the leaf where it is. */
export function isBookkeeping(type: string): boolean {
	return BOOKKEEPING.has(type);
}

/** The kind that reducers name: the entry's type, and for feature entries `custom:<customType>`. */
export function entryKind(type: string, customType: string | undefined): string {
	return customType === undefined || type !== "custom" ? type : `custom:${customType}`;
}
