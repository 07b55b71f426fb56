/** What a session needs from the world, as interfaces. `compose.ts` supplies the real things, tests supply others. */

import type { Api, Model } from "@earendil-works/pi-ai";
import type { StreamFn } from "@prime-agent/loop";

/** Names one port; the type parameter is what `host.port(token)` returns. */
export interface PortToken<T> {
	readonly name: string;
	/** Only carries the type; never set. */
	readonly type?: T;
}

/** Declares a port under a unique name. */
function definePort<T>(name: string): PortToken<T> {
	return { name };
}

/** A person's view of time, replaceable in tests. */
export interface ClockPort {
	/** Milliseconds since 1970, as `Date.now()`. */
	now(): number;
	/** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** How a cell ended. `interrupted`: stopped on request; `dead`: the kernel process ended under it. */
export type CellStatus = "ok" | "error" | "interrupted" | "timeout" | "dead";

/** One piece of live output of a running cell. */
export interface CellChunk {
	readonly stream: "stdout" | "stderr";
	readonly text: string;
}

/** An error that a cell ended with; `traceback` holds plain lines, outermost frame first. */
export interface CellError {
	readonly name: string;
	readonly value: string;
	readonly traceback: readonly string[];
}

/** Data in several representations, by MIME type: text as is, binary as base64. */
export type MimeBundle = Readonly<Record<string, unknown>>;

/** A variable that a new kernel does not have, and why; without a reason it was in no snapshot yet. */
export interface LostName {
	readonly name: string;
	readonly why?: string;
}

/** What a new kernel has of the variables that an earlier one had. */
export interface KernelRestart {
	/** How the earlier kernel ended; absent when a session goes on in another process. */
	readonly how?: string;
	readonly restored: readonly string[];
	readonly lost: readonly LostName[];
	/** Cells whose changes are not in what was restored. */
	readonly behind: number | "unknown";
	/** Why a snapshot that was there could not be used. */
	readonly problem?: string;
	/** The folder that cells had changed to, when it is not there any more. */
	readonly folder?: string;
}

/** What happens to a kernel beside its cells. */
export type KernelEvent =
	| { readonly type: "ended"; readonly how: string; readonly exitCode?: number; readonly signal?: string }
	| {
			readonly type: "saved";
			readonly names: readonly string[];
			readonly unsaved: readonly LostName[];
			readonly bytes: number;
			readonly durationMs: number;
			/** Cells that began meanwhile: what they change is not in it. */
			readonly behind: number;
	  }
	| { readonly type: "save_failed"; readonly reason: string }
	/** The built-in kernel serves where ipykernel was meant to: why, and what to do, in sentences. */
	| { readonly type: "stands_in"; readonly reason: string; readonly advice: string };

/** What one cell gave. `stdout` and `stderr` are whole or already cut to head and tail by the kernel. */
export interface CellResult {
	readonly status: CellStatus;
	readonly stdout: string;
	readonly stderr: string;
	/** `text/plain` of the last expression, absent when it was `None` or a statement. */
	readonly result?: string;
	/** Rich output in order: `display(...)` and the rich forms of the last expression. */
	readonly displays: readonly MimeBundle[];
	readonly error?: CellError;
	/** Milliseconds from the request to the end, by a monotonic clock. */
	readonly durationMs: number;
	/** True when this cell is the first one in a kernel that replaces another one. */
	readonly kernelRestarted: boolean;
	/** What became of earlier variables; only with `kernelRestarted`. */
	readonly restart?: KernelRestart;
	/** Bytes of output that were produced but not kept, 0 when nothing was dropped. */
	readonly droppedBytes: number;
}

/** Options of one cell. */
export interface CellOptions {
	/** Interrupts the cell; the kernel and its variables survive where possible. */
	readonly signal?: AbortSignal;
	/** Live output in order. Must not throw. */
	readonly onChunk?: (chunk: CellChunk) => void;
	/** Called with `starting` when the kernel has to start first. */
	readonly onStatus?: (status: "starting" | "running") => void;
}

/** Answers a request that code in a cell sent; a thrown error is raised in the cell with its message. */
export type HostRequestHandler = (
	type: string,
	payload: Readonly<Record<string, unknown>>,
	signal: AbortSignal,
) => Promise<unknown>;

/** What kind of kernel serves, for status texts. */
export interface KernelInfo {
	readonly backend: "builtin" | "ipykernel";
	/** Absolute path of the interpreter. */
	readonly python: string;
	/** For example `3.11.2`. */
	readonly version: string;
	readonly pid: number;
}

/**
 * One persistent Python namespace. Cells run one at a time, in call order.
 * @throws {Error} from `execute` only when no kernel can be started; the message names each interpreter that was tried.
 */
export interface KernelPort {
	/** Begins to start the kernel in the background; failures show at the next `execute`. */
	prewarm(): void;
	/** Runs one cell and resolves when it has ended, however it ended. */
	execute(code: string, options?: CellOptions): Promise<CellResult>;
	/** Sets who answers `host.request`; the last caller wins. */
	serve(handler: HostRequestHandler): void;
	/** Sets who hears what happens to the kernel beside its cells; must not throw, the last caller wins. */
	watch(listener: (event: KernelEvent) => void): void;
	/** Saves the variables now instead of in the next pause; resolves when that is done, or goes on without its caller. */
	save(): Promise<void>;
	/** Names of environment variables that cells do not get, because they look like credentials. */
	readonly leftOut: readonly string[];
	/** The running kernel, or undefined before the first start and after its end. */
	info(): KernelInfo | undefined;
	/** Saves the variables, ends the kernel and everything it started. Can be called twice. */
	dispose(): Promise<void>;
}

/** The model of the session, for features that ask it something beside the conversation. */
export interface ModelPort {
	/** The model that the next turn uses; undefined when none is chosen. */
	current(): Model<Api> | undefined;
	/** Sends a request with the user's credentials; usage counts for the user like any other. */
	readonly stream: StreamFn;
}

/** Where a credential came from, and fingerprints by which a later one is told apart; never the credential itself. */
export interface AuthSourceToken {
	/** For example `stored`, `environment` or `runtime`. */
	readonly source: string;
	readonly identityFingerprint: string;
	readonly valueFingerprint: string;
}

/** The credentials of providers, for features that learn that one was refused. */
export interface AuthPort {
	/**
	 * What the last request to the provider carried; undefined without a credential. To be asked after a refusal: the
	 * next request looks for its credential anew.
	 */
	current(provider: string): Promise<AuthSourceToken | undefined>;
	/** Takes credentials out of use until they change. */
	markStale(provider: string, tokens: readonly AuthSourceToken[]): Promise<void>;
}

/** Settings as a feature reads them: merged, checked against a schema by the reader. */
export interface SettingsPort {
	/** The value at a dotted path, for example `compaction.reserveTokens`; undefined when unset. */
	get(path: string): unknown;
}

/** The model of the session. */
export const MODEL: PortToken<ModelPort> = definePort("model");
/** The credentials, optional: without them a refused one stays in use. */
export const AUTH: PortToken<AuthPort> = definePort("auth");
/** The settings of the user and the project, merged. */
export const SETTINGS: PortToken<SettingsPort> = definePort("settings");
/** The Python kernel that cells run in. */
export const KERNEL: PortToken<KernelPort> = definePort("kernel");
/** The time; every wait of a feature goes through it. */
export const CLOCK: PortToken<ClockPort> = definePort("clock");
