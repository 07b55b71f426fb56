import { bool, int, nullable, num, obj, opt, str } from "@earendil-works/pi-schema";
import { defineOperation } from "../../protocol/operation.ts";

/**
 * Replaces older messages by a summary. For a client it stops the running turn, resolves when the summary is written
 * and fails as `refused` when nothing can be summarised. Code in a cell gets `scheduled: true`: the summary is made
 * when the turn ends, and a later call only changes the instructions.
 */
export const runCompaction = defineOperation({
	name: "compact.run",
	doors: ["client", "kernel"],
	scope: "session",
	effect: "once",
	params: obj({ instructions: opt(nullable(str())) }),
	result: obj({
		scheduled: bool(),
		/** Why nothing is scheduled. */
		reason: opt(str()),
		summary: opt(str()),
		firstKeptEntryId: opt(str()),
		/** Tokens of the context before. */
		tokensBefore: opt(int()),
	}),
	names: { kernel: "compact.run", rpc: "compact", slash: "compact" },
});

/** How full the model's context is. `percent` is null when no reply has come since the last compaction. */
export const compactionStatus = defineOperation({
	name: "compact.status",
	doors: ["client", "kernel", "feature"],
	scope: "session",
	effect: "read",
	params: obj({}),
	result: obj({
		/** As the provider counted them, with an estimate of what came after its last reply. */
		tokens: int(),
		/** Null without a model. */
		context_window: nullable(int()),
		percent: nullable(num()),
		/** Whether a compaction waits for the end of the turn. */
		scheduled: bool(),
	}),
	names: { kernel: "compact.status" },
});
