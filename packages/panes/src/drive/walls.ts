import type { AgentCli, Wall } from "../clis/cli.ts";
import { PaneError } from "../errors.ts";
import { stripStyle } from "../screen/style.ts";
import { type Drive, poll, rest } from "./context.ts";
import type { PaneIO } from "./pane-io.ts";

const DEPTH = 24;
const MOVES = 10;

/** The wall that a screen shows, looked for in its last rows only; else undefined. */
export function findWall(cli: AgentCli | undefined, rows: readonly string[]): Wall | undefined {
	const text = lastRows(rows).join("\n");
	return cli?.walls.find((wall) => wall.question.test(text));
}

/**
 * Answers a wall with its accepting label: moves the cursor there, reads the screen again and presses Enter only while
 * the cursor stands on that row. Throws `PaneError` when the label or the cursor is not found.
 */
export async function answerWall(drive: Drive, io: PaneIO, wall: Wall): Promise<void> {
	for (let move = 0; move < MOVES; move++) {
		const rows = lastRows((await io.frame()).rows);
		if (!wall.question.test(rows.join("\n"))) return;
		const cursor = rows.findIndex((row) => startsWithCursor(row, wall));
		const wanted = rows.findIndex((row) => wall.accept.test(labelOf(row, wall)));
		if (wanted < 0 || cursor < 0) break;
		if (cursor === wanted) {
			await io.press("Enter");
			await waitForChange(drive, io, wall);
			return;
		}
		await io.press(cursor < wanted ? "Down" : "Up");
		await rest(drive, drive.timings.look);
	}
	throw new PaneError("blocked", `${io.id}: the ${wall.name} question could not be answered; attach and answer it`);
}

async function waitForChange(drive: Drive, io: PaneIO, wall: Wall): Promise<void> {
	await poll(drive, drive.timings.echo, drive.timings.look, async () => {
		const rows = lastRows((await io.frame()).rows);
		return wall.question.test(rows.join("\n")) ? undefined : true;
	});
}

function lastRows(rows: readonly string[]): string[] {
	return rows
		.map((row) => stripStyle(row).trimEnd())
		.filter((row) => row !== "")
		.slice(-DEPTH);
}

function startsWithCursor(row: string, wall: Wall): boolean {
	return wall.cursor.test(row.replace(/^[\s│┃]*/, "").slice(0, 2));
}

function labelOf(row: string, wall: Wall): string {
	return row
		.replace(/^[\s│┃]*/, "")
		.replace(new RegExp(`^${wall.cursor.source}\\s*`, "u"), "")
		.replace(/\s*[│┃]\s*$/, "")
		.trim();
}
