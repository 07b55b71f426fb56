import { classify } from "../screen/classify.ts";
import { countWrapped, squeeze } from "../screen/count.ts";
import { type Drive, poll, rest } from "./context.ts";
import { identifyCli } from "./identify.ts";
import type { PaneIO } from "./pane-io.ts";
import { findOwner } from "./takeover.ts";

/** Can the pane accept typed input now? */
export type ReadyWord = "ready" | "booting" | "parked";

/** Why the word was chosen. */
export type ReadyReason =
	| "echo"
	| "shell-foreground"
	| "cooked-tty"
	| "blank"
	| "moving"
	| "stable"
	| "narrow"
	| "wall";

/** The answer of the readiness probe with the last rows of the screen. */
export interface Readiness {
	readonly word: ReadyWord;
	readonly reason: ReadyReason;
	/** Last 20 rows; empty for a blank screen. */
	readonly snippet: string;
}

/** Harmless text that is typed and taken back, never submitted. */
export const SENTINEL = "AGENT-READY-PROBE";

const DEPTH = 50;
const SNIPPET_ROWS = 20;
const FLOOR = { width: 80, height: 20 };

/** Classifies two captures: an echo wins, then a blank screen, then movement; what stays and does not echo is parked. */
export function deriveReadiness(
	echoed: boolean,
	first: string,
	second: string,
): { word: ReadyWord; reason: ReadyReason } {
	if (echoed) return { word: "ready", reason: "echo" };
	if (squeeze(second) === "") return { word: "booting", reason: "blank" };
	if (first !== second) return { word: "booting", reason: "moving" };
	return { word: "parked", reason: "stable" };
}

/** The last rows of a capture, for messages. */
export function snippetOf(capture: string, rows = SNIPPET_ROWS): string {
	return capture.trimEnd().split("\n").slice(-rows).join("\n");
}

/**
 * Probes whether a pane accepts input by typing the sentinel and looking for its echo. Types nothing while a shell,
 * the kernel or a recognised wall would receive it.
 */
export async function probeReadiness(
	drive: Drive,
	io: PaneIO,
	options: { allowShell?: boolean | undefined; allowCooked?: boolean | undefined } = {},
): Promise<Readiness> {
	const frame = await io.frame();
	const info = await io.info();
	const owner = await findOwner(info);
	const isAllowed =
		(owner === "shell-foreground" && options.allowShell) || (owner === "cooked-tty" && options.allowCooked);
	if (owner !== "program" && !isAllowed) {
		return { word: "booting", reason: owner, snippet: snippetOf(frame.rows.join("\n")) };
	}
	const cli = await identifyCli(info);
	if (cli?.screen !== undefined) {
		const verdict = classify(cli.screen, { rows: frame.rows, title: info.title });
		if (verdict.word === "blocked") {
			return { word: "parked", reason: "wall", snippet: snippetOf(frame.rows.join("\n")) };
		}
	}
	const baseline = countWrapped(await io.tail(DEPTH), SENTINEL);
	await io.type(SENTINEL);
	let first = "";
	const echoed = await poll(drive, drive.timings.echo, drive.timings.look, async () => {
		first = await io.tail(DEPTH);
		return countWrapped(first, SENTINEL) > baseline || undefined;
	});
	let second = first;
	if (!echoed) {
		await rest(drive, drive.timings.stability);
		second = await io.tail(DEPTH);
	}
	await io.press("C-u");
	const { word, reason } = deriveReadiness(echoed ?? false, first, second);
	const isNarrow = word === "parked" && (info.width < FLOOR.width || info.height < FLOOR.height);
	return { word, reason: isNarrow ? "narrow" : reason, snippet: word === "ready" ? "" : snippetOf(second) };
}

/** Whether a pane is smaller than composers need to show what is typed. */
export function isNarrow(pane: { readonly width: number; readonly height: number }): boolean {
	return pane.width < FLOOR.width || pane.height < FLOOR.height;
}
