/** One row of a terminal screen: its characters and, per UTF-16 index, whether they are dim or reversed. */
export interface StyledRow {
	readonly text: string;
	readonly dim: readonly boolean[];
	readonly reversed: readonly boolean[];
}

const ESC = "\u001b";
const BEL = "\u0007";

/** SGR with its parameters in group 1, else another escape sequence or a character-set shift. */
const SGR = new RegExp(
	[
		`${ESC}\\[([\\d;:]*)m`,
		`${ESC}\\[[\\d;?]*[A-Za-z]`,
		`${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`,
		`${ESC}[()][A-Z0-9]`,
		"[\u000e\u000f]",
	].join("|"),
	"g",
);

/** Reads rows as `capture-pane -e` prints them; attributes carry over from row to row as in a terminal. */
export function parseStyledRows(rows: readonly string[]): StyledRow[] {
	const state = { dim: false, reversed: false };
	return rows.map((row) => parseRow(row, state));
}

/** The characters of rows without colours and attributes. */
export function stripStyle(row: string): string {
	return row.replace(SGR, "");
}

function parseRow(row: string, state: { dim: boolean; reversed: boolean }): StyledRow {
	let text = "";
	const dim: boolean[] = [];
	const reversed: boolean[] = [];
	const add = (part: string) => {
		text += part;
		for (let index = 0; index < part.length; index++) {
			dim.push(state.dim);
			reversed.push(state.reversed);
		}
	};
	let last = 0;
	for (const match of row.matchAll(SGR)) {
		add(row.slice(last, match.index));
		last = match.index + match[0].length;
		if (match[1] !== undefined) applySgr(match[1], state);
	}
	add(row.slice(last));
	return { text, dim, reversed };
}

function applySgr(parameters: string, state: { dim: boolean; reversed: boolean }): void {
	const codes = parameters.split(";");
	for (let index = 0; index < codes.length; index++) {
		const code = Number(codes[index] || 0);
		if (code === 38 || code === 48) {
			index += codes[index + 1] === "5" ? 2 : codes[index + 1] === "2" ? 4 : 0;
		} else if (code === 0) {
			state.dim = false;
			state.reversed = false;
		} else if (code === 2) state.dim = true;
		else if (code === 22) state.dim = false;
		else if (code === 7) state.reversed = true;
		else if (code === 27) state.reversed = false;
	}
}
