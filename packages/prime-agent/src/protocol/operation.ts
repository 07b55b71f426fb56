import type { Schema, Static } from "@earendil-works/pi-schema";

/** Where a call may come from: a client (mode, SDK, daemon), code in the kernel, or another feature. */
export type Door = "client" | "kernel" | "feature";

/**
 * What a repeated call does. `read` changes nothing, `idempotent` may be repeated, `once` must not run twice:
 * journals and retries follow from it.
 */
export type Effect = "read" | "idempotent" | "once";

/** The names under which the outside world knows an operation. */
export interface OutsideNames {
	/** Request type of `host.request`, for example `goal.create`. */
	readonly kernel?: string;
	/** Command of RPC mode, for example `follow_up`. */
	readonly rpc?: string;
	/** Slash command without the slash. */
	readonly slash?: string;
}

/** A named, typed thing that one can ask of a session or of the daemon; one declaration serves every door. */
export interface Operation<Params = unknown, Result = unknown> {
	/** `noun.verb`. */
	readonly name: string;
	readonly doors: readonly Door[];
	readonly scope: "session" | "daemon";
	readonly effect: Effect;
	readonly params: Schema<Params>;
	readonly result: Schema<Result>;
	readonly names?: OutsideNames;
}

/** Declares an operation; the types of params and result come from the schemas. */
export function defineOperation<const P extends Schema, const R extends Schema>(
	operation: Omit<Operation, "params" | "result"> & { readonly params: P; readonly result: R },
): Operation<Static<P>, Static<R>> {
	return operation as unknown as Operation<Static<P>, Static<R>>;
}
