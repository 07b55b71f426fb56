import type { LostName } from "../session/ports.ts";
import { type Message, text } from "./builtin/messages.ts";

/** More names than this are not told one by one. */
const MAX_NAMES = 2000;
const MAX_REASON_CHARS = 200;

/** What a kernel says about a snapshot that it was asked to write. */
export type SaveReport =
	| {
			readonly kind: "saved";
			readonly saved: readonly string[];
			readonly unsaved: readonly LostName[];
			readonly bytes: number;
	  }
	/** A cell came first, or the end of the kernel. */
	| { readonly kind: "busy" }
	/** A variable ended the copy that was writing it; the next attempt leaves that one out. */
	| { readonly kind: "again" }
	| { readonly kind: "failed"; readonly problem: string };

/** What a kernel says about a snapshot that it was asked to restore. */
export interface RestoreReport {
	readonly restored: readonly string[];
	/** What the snapshot holds and this kernel could not restore. */
	readonly lost: readonly LostName[];
	/** What was not in the snapshot when it was taken. */
	readonly unsaved: readonly LostName[];
	/** The working folder of cells, when it is not there any more. */
	readonly folder: string | undefined;
	/** Why nothing could be restored. */
	readonly problem: string | undefined;
}

/** The answer to `save`, its fields unchecked. */
export function readSaved(answer: Message): SaveReport {
	if (answer.busy === true || answer.ended === true) return { kind: "busy" };
	if (answer.again === true) return { kind: "again" };
	if (!Array.isArray(answer.saved))
		return { kind: "failed", problem: readProblem(answer) ?? "the kernel did not say why" };
	const bytes = typeof answer.bytes === "number" ? answer.bytes : 0;
	return { kind: "saved", saved: readNames(answer.saved), unsaved: readLost(answer.unsaved), bytes };
}

/** The answer to `restore`, its fields unchecked. */
export function readRestored(answer: Message): RestoreReport {
	return {
		restored: readNames(answer.restored),
		lost: readLost(answer.lost),
		unsaved: readLost(answer.unsaved),
		folder: typeof answer.folder === "string" ? text(answer.folder) : undefined,
		problem: readProblem(answer),
	};
}

/** A list of names; what is none counts as empty. */
function readNames(value: unknown): readonly string[] {
	return Array.isArray(value) ? value.slice(0, MAX_NAMES).map(text) : [];
}

function readLost(value: unknown): readonly LostName[] {
	if (!Array.isArray(value)) return [];
	return value.slice(0, MAX_NAMES).map((each) => {
		const { name, why } = (each ?? {}) as Message;
		return { name: text(name), why: cut(text(why)) };
	});
}

function readProblem({ problem }: Message): string | undefined {
	return typeof problem === "string" ? cut(text(problem)) : undefined;
}

function cut(reason: string): string {
	return reason.replaceAll(/\s+/g, " ").slice(0, MAX_REASON_CHARS);
}
