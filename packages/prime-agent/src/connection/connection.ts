import type { SessionHeader } from "../protocol/entry.ts";
import type { SessionEvent } from "../protocol/event.ts";
import type { Operation } from "../protocol/operation.ts";

/** How a mode reaches a session, wherever it runs. */
export interface Connection {
	readonly header: SessionHeader;
	/** File of the session, or undefined when nothing is kept. */
	readonly file: string | undefined;
	/** Calls an operation; rejects with `AgentError` when the session refuses. */
	call<Params, Result>(operation: Operation<Params, Result>, params: Params, signal?: AbortSignal): Promise<Result>;
	/** Live events in order; the returned function ends the subscription. */
	subscribe(listener: (event: SessionEvent) => void): () => void;
	/** Lets go of the session. Resolves when nothing that the connection started runs any more. */
	close(): Promise<void>;
}
