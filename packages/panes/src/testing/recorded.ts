import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ScreenCapture } from "../screen/view.ts";

/** One recorded screen of a real agent CLI and the word it must get; `any` is in between and must not be `ready`. */
export interface RecordedScreen {
	readonly cli: string;
	readonly version: string;
	readonly name: string;
	readonly expected: string;
}

const FOLDER = new URL("../../fixtures/screens/", import.meta.url);

/** All recorded screens, as labels.tsv lists them. */
export function listRecorded(): RecordedScreen[] {
	const lines = readFileSync(new URL("labels.tsv", FOLDER), "utf8").trim().split("\n").slice(1);
	return lines.map((line) => {
		const [cli = "", version = "", name = "", expected = ""] = line.split("\t");
		return { cli, version, name, expected };
	});
}

/** The file of a recorded screen with one of its endings. */
function recordedPath(screen: RecordedScreen, ending: "txt" | "ansi" | "meta"): string {
	return fileURLToPath(new URL(`${screen.cli}/${screen.version}/${screen.name}.${ending}`, FOLDER));
}

/** The capture of a recorded screen, plain or styled, with the title and the death that tmux reported. */
export function readRecorded(screen: RecordedScreen, ending: "txt" | "ansi"): ScreenCapture {
	const rows = readFileSync(recordedPath(screen, ending), "utf8").replace(/\n$/, "").split("\n");
	const meta = readFileSync(recordedPath(screen, "meta"), "utf8");
	const title = /title=(.*?) in_mode=/.exec(meta)?.[1] ?? "";
	const [, x, y] = /cursor=(\d+),(\d+)/.exec(meta) ?? [];
	const isVisible = /cursor_flag=1/.test(meta);
	return {
		rows,
		isStyled: ending === "ansi",
		title,
		isDead: / dead=1 /.test(meta),
		cursor: { x: Number(x), y: Number(y), isVisible },
	};
}
