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
 * Answers a wall with its accepting label: moves the cursor there, waits until the screen shows each move, and presses
 * Enter only when the cursor rests on that row. Throws `PaneError` when the label or the cursor is not found.
 */
export async function answerWall(drive: Drive, io: PaneIO, wall: Wall): Promise<void> {
	for (let move = 0; move < MOVES; move++) {
		const menu = await readMenu(io, wall);
		if (menu === undefined) return;
		if (menu.cursor < 0 || menu.wanted < 0) break;
		if (menu.cursor === menu.wanted) {
			// A move that is drawn late would put another row under the Enter.
			await rest(drive, drive.timings.settle);
			const again = await readMenu(io, wall);
			if (again?.cursor !== menu.cursor || again.wanted !== menu.wanted) continue;
			await io.press("Enter");
			await waitForChange(drive, io, wall);
			return;
		}
		await io.press(menu.cursor < menu.wanted ? "Down" : "Up");
		const moved = await poll(drive, drive.timings.echo, drive.timings.look, async () => {
			const now = await readMenu(io, wall);
			return now === undefined || now.cursor !== menu.cursor ? true : undefined;
		});
		// Another press would be a blind one: the first may only be slow.
		if (!moved) break;
	}
	throw new PaneError("blocked", `${io.id}: the ${wall.name} question could not be answered; attach and answer it`);
}

async function readMenu(io: PaneIO, wall: Wall): Promise<ReturnType<typeof locateAnswer>> {
	return locateAnswer((await io.frame()).rows, wall);
}

/**
 * Where a wall's cursor and its accepting label stand among the last rows of a screen, -1 for one that is not there;
 * undefined when the question is not on the screen.
 */
export function locateAnswer(screen: readonly string[], wall: Wall): { cursor: number; wanted: number } | undefined {
	const rows = lastRows(screen);
	if (!wall.question.test(rows.join("\n"))) return undefined;
	return {
		cursor: rows.findIndex((row) => startsWithCursor(row, wall)),
		wanted: rows.findIndex((row) => wall.accept.test(labelOf(row, wall))),
	};
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
