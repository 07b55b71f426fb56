import type { SessionContext } from "./context.ts";
import type { Gate } from "./gate.ts";
import type { SessionLog } from "./log.ts";
import type { OperationTable } from "./operations.ts";
import type { Queue } from "./queue.ts";
import type { Registry } from "./registry.ts";
import type { Runner } from "./run.ts";

/** The parts of one session that its own operations and its features work on. */
export interface SharedParts {
	readonly log: SessionLog;
	readonly context: SessionContext;
	readonly gate: Gate;
	readonly queue: Queue;
	readonly registry: Registry;
	readonly operations: OperationTable;
	readonly runner: Runner;
}
