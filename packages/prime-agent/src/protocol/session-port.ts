import type { SessionHeader } from "./entry.ts";
import type { SessionEvent } from "./event.ts";
import type { Door } from "./operation.ts";

/** One session as the other side of a connection sees it. */
export interface SessionPort {
	readonly header: SessionHeader;
	/** Absolute path, or undefined when nothing is kept on disk. */
	readonly file: string | undefined;
	/** Calls an operation by its name; rejects with `AgentError` when it is unknown, refused or its params are wrong. */
	call(name: string, params: unknown, door: Door, signal?: AbortSignal): Promise<unknown>;
	/** Live events in order; the returned function ends the subscription. */
	subscribe(listener: (event: SessionEvent) => void): () => void;
	/** Ends work, saves, releases everything. Resolves when nothing of the session runs any more. */
	dispose(): Promise<void>;
}
