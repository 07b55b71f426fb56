import type { Api, Message, Model } from "@earendil-works/pi-ai";
import type { AgentMessage } from "@prime-agent/loop";
import {
	type BranchSummaryEntry,
	type CompactionEntry,
	type CustomMessageEntry,
	type Entry,
	type EntryBase,
	isBookkeeping,
} from "../protocol/entry.ts";
import type { SessionLog, SpokenMessage } from "./log.ts";
import { mendMessage } from "./mend.ts";
import { GrowingTranscript } from "./transcript.ts";

/** What the model is told, made from the branch that the log's leaf ends. */
export class SessionContext {
	readonly #log: SessionLog;
	readonly #transcript = new GrowingTranscript();
	#messages: AgentMessage[] | undefined;
	/** The leaf that `#messages` ends with. */
	#leafId: string | null = null;

	constructor(log: SessionLog) {
		this.#log = log;
		log.onAppend((entry) => this.#follow(entry));
	}

	/**
	 * The conversation since the last compaction, which opens it with its summary. The list is the caller's own.
	 * Costs one walk of the branch after opening, moving or compacting, and nothing per turn otherwise.
	 */
	messages(): AgentMessage[] {
		if (!this.#messages || this.#leafId !== this.#log.leafId) {
			this.#messages = readMessages(this.#log);
			this.#leafId = this.#log.leafId;
		}
		return [...this.#messages];
	}

	/** The messages of a request: only roles that models know, repaired for the model that gets them. */
	toRequest(messages: readonly AgentMessage[], model: Model<Api>): Message[] {
		return this.#transcript.repair(messages.filter(isKnown), model);
	}

	#follow(entry: EntryBase): void {
		if (!this.#messages || isBookkeeping(entry.type)) return;
		if (entry.parentId !== this.#leafId || entry.type === "compaction") {
			this.#messages = undefined;
			return;
		}
		const message = toMessage(entry);
		if (message) this.#messages.push(message);
		this.#leafId = entry.id;
	}
}

function isKnown(message: AgentMessage): message is Message {
	return message.role === "user" || message.role === "assistant" || message.role === "toolResult";
}

const COMPACTIONS = new Set(["compaction"]);
const SPOKEN = new Set(["message", "custom_message", "branch_summary"]);

function readMessages(log: SessionLog): AgentMessage[] {
	const compaction = findCompaction(log);
	const firstKept = compaction?.firstKeptEntryId ?? "";
	// What a compaction keeps stands before it; where that is lost, nothing before it is kept.
	const until = compaction && (log.isBefore(firstKept, compaction.id) ? firstKept : compaction.id);
	const path: AgentMessage[] = [];
	for (const entry of log.messagesFromLeaf(SPOKEN, until)) {
		const message = toMessage(entry);
		if (message) path.push(message);
	}
	path.reverse();
	return compaction ? [summaryMessage(compaction, "Summary of the conversation so far"), ...path] : path;
}

/** The newest compaction that has a summary: one that lost it must not take the conversation along. */
function findCompaction(log: SessionLog): CompactionEntry | undefined {
	for (const entry of log.fromLeaf(COMPACTIONS)) {
		if (isCompaction(entry)) return entry;
	}
	return undefined;
}

/** Whether an entry is a compaction that opens the context: one that lost its summary does not. */
export function isCompaction(entry: Entry): entry is Entry & CompactionEntry {
	return entry.type === "compaction" && hasSummary(entry);
}

function hasSummary({ summary }: EntryBase & { readonly summary?: unknown }): boolean {
	return typeof summary === "string" && summary.trim() !== "";
}

function summaryMessage({ summary, timestamp }: CompactionEntry | BranchSummaryEntry, title: string): AgentMessage {
	return { role: "user", content: `${title}:\n\n${summary}`, timestamp: Date.parse(timestamp) };
}

/** The message that an entry is to the model; undefined when it is none. */
export function toMessage(entry: EntryBase | SpokenMessage): AgentMessage | undefined {
	if (isSpokenMessage(entry)) return mendMessage(entry.message);
	if (entry.type === "custom_message") {
		const { content, timestamp } = entry as CustomMessageEntry;
		return mendMessage({ role: "user", content, timestamp: Date.parse(timestamp) });
	}
	if (entry.type === "branch_summary" && hasSummary(entry)) {
		return summaryMessage(entry as BranchSummaryEntry, "Summary of work on another branch");
	}
	return undefined;
}

function isSpokenMessage(entry: EntryBase | SpokenMessage): entry is SpokenMessage {
	return entry.type === "message";
}
