import { parseStyledRows, type StyledRow } from "./style.ts";

/** A captured screen as it comes from tmux or from files. */
export interface ScreenCapture {
	/** Rows from top to bottom; SGR sequences are understood, plain rows are fine. */
	readonly rows: readonly string[];
	/** Whether `rows` were captured with attributes; without them a placeholder is known by its words only. */
	readonly isStyled?: boolean | undefined;
	/** Title of the pane, if it was read. */
	readonly title?: string | undefined;
	/** Whether tmux says that the program has ended. */
	readonly isDead?: boolean | undefined;
	/** Position of the terminal's cursor in cells from the top left corner. */
	readonly cursor?: { readonly x: number; readonly y: number; readonly isVisible: boolean } | undefined;
}

/** The input box of a CLI on a screen. */
export interface Composer {
	/** Row of its first line. */
	readonly start: number;
	/** Row of its last line. */
	readonly end: number;
	/** What stands in it, line by line, without prompt glyph, frame and placeholder. */
	readonly lines: readonly string[];
	/** Whether nothing waits in it to be sent. */
	readonly isEmpty: boolean;
}

/** Where a CLI draws its composer: rows of its content and how to cut the frame from a row. */
export interface Box {
	/** First row that belongs to the frame or, without a frame, to the content. */
	readonly top: number;
	readonly start: number;
	readonly end: number;
	/** Last row that belongs to the frame. */
	readonly bottom: number;
	/** Column where the content of a row begins. */
	readonly indent: number;
	/** Characters of a right-hand frame to cut off. */
	readonly tail?: RegExp;
}

/** A screen divided into what stands above the composer, in it and below it. */
export interface View {
	readonly rows: readonly StyledRow[];
	readonly isStyled: boolean;
	readonly title: string | undefined;
	readonly cursor: ScreenCapture["cursor"];
	readonly box: Box | undefined;
	readonly composer: Composer | undefined;
	/** Rows above the composer's frame (the whole screen without one), without trailing blank rows. */
	readonly above: readonly string[];
	/** Non-blank rows below the composer's frame. */
	readonly below: readonly string[];
	/** Whether the title or the rows are empty throughout. */
	readonly isBlank: boolean;
}

/** Divides a screen by the box that `findBox` sees in it. */
export function makeView(
	capture: ScreenCapture,
	findBox: (rows: readonly string[]) => Box | undefined,
	placeholders: readonly RegExp[],
): View {
	const styled = parseStyledRows(capture.rows);
	while (styled.length > 0 && styled.at(-1)?.text.trim() === "") styled.pop();
	const texts = styled.map((row) => row.text);
	const box = findBox(texts);
	const isStyled = capture.isStyled ?? capture.rows.some((row) => row.includes("\u001b["));
	return {
		rows: styled,
		isStyled,
		title: capture.title,
		cursor: capture.cursor,
		box,
		composer: box === undefined ? undefined : readComposer(styled, box, placeholders),
		above: trimEnd(box === undefined ? texts : texts.slice(0, box.top)),
		below: box === undefined ? [] : texts.slice(box.bottom + 1).filter((row) => row.trim() !== ""),
		isBlank: texts.length === 0,
	};
}

/** The last run of non-blank rows. */
export function lastBlock(rows: readonly string[]): string[] {
	let start = rows.length;
	while (start > 0 && rows[start - 1]?.trim() !== "") start--;
	return rows.slice(start);
}

function readComposer(rows: readonly StyledRow[], box: Box, placeholders: readonly RegExp[]): Composer {
	const lines: string[] = [];
	let hasPlainText = false;
	for (let index = box.start; index <= box.end; index++) {
		const row = rows[index];
		if (row === undefined) continue;
		const whole = box.tail === undefined ? row.text : row.text.replace(box.tail, "");
		const line = whole.slice(box.indent).trimEnd();
		lines.push(line);
		for (let column = box.indent; column < whole.length; column++) {
			// The cell under the cursor is reversed and belongs to the placeholder it stands on.
			if (!/\s/.test(whole[column] ?? " ") && !row.dim[column] && !row.reversed[column]) hasPlainText = true;
		}
	}
	const content = lines.join("\n").trim();
	const isPlaceholder = content === "" || !hasPlainText || placeholders.some((pattern) => pattern.test(content));
	return { start: box.start, end: box.end, lines: isPlaceholder ? [] : lines, isEmpty: isPlaceholder };
}

function trimEnd(rows: string[]): string[] {
	let end = rows.length;
	while (end > 0 && rows[end - 1]?.trim() === "") end--;
	return rows.slice(0, end);
}
