import type { CellStatus, MimeBundle } from "../../session/ports.ts";
import type { CellOutcome } from "../link.ts";

/** The version of the line protocol that this host speaks. */
export const PROTOCOL = 1;

/** One message, its fields unchecked. */
export type Message = Record<string, unknown>;

/** How a kernel process and its host exchange messages. */
export interface Line {
	/** Sends one; throws when it is not JSON. After the end it goes nowhere. */
	send(message: Message): void;
	/** Hands over what comes from now on; `onBroken` hears why nothing more will. */
	listen(onMessage: (message: Message) => void, onBroken: (reason: string) => void): void;
	/** Lets go of what the line holds on this side. */
	close(): void;
}

/** What a terminal would obey: controls but tab, line feed, carriage return and U+0085. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/**
 * A text field; absent or of another type counts as empty. Half surrogates and control characters become U+FFFD: a
 * kernel sends none, but code in a cell can write to its line.
 */
export function text(value: unknown): string {
	return typeof value === "string" ? value.toWellFormed().replace(CONTROLS, "\ufffd") : "";
}

const STATUSES: readonly CellStatus[] = ["ok", "error", "interrupted"];

/** The end of a cell, from the kernel's `done` message and the displays that came before. */
export function readOutcome(message: Message, displays: readonly MimeBundle[]): CellOutcome {
	const status = STATUSES.find((known) => known === message.status) ?? "error";
	const error = readError(message.error);
	return {
		status,
		stdout: text(message.stdout),
		stderr: text(message.stderr),
		...(typeof message.result === "string" ? { result: text(message.result) } : {}),
		displays,
		...(error ? { error } : {}),
		droppedBytes: typeof message.dropped === "number" ? message.dropped : 0,
		...(Array.isArray(message.names) ? { names: message.names.map(text) } : {}),
	};
}

function readError(value: unknown): CellOutcome["error"] {
	if (typeof value !== "object" || value === null) return undefined;
	const { name, value: detail, traceback } = value as Message;
	return { name: text(name), value: text(detail), traceback: Array.isArray(traceback) ? traceback.map(text) : [] };
}

/** A display bundle as it came, or undefined when it is none. */
export function readBundle(value: unknown): MimeBundle | undefined {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
	const entries = Object.entries(value).map(([type, data]) => [
		text(type),
		typeof data === "string" ? text(data) : data,
	]);
	return Object.fromEntries(entries);
}
