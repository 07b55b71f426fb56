/** How much of a tool's output the model gets to read. */
export interface OutputLimit {
	/** UTF-16 code units. */
	characters: number;
	/** Which part survives: both ends, or the end. */
	keep: "head_tail" | "tail";
	/** Lines, applied after the characters; no limit when absent. */
	lines?: number;
}

const limits: Record<string, OutputLimit> = {
	read_file: { characters: 50_000, keep: "head_tail" },
	read_many_files: { characters: 50_000, keep: "head_tail" },
	shell: { characters: 30_000, keep: "head_tail", lines: 256 },
	grep: { characters: 20_000, keep: "tail", lines: 200 },
	glob: { characters: 20_000, keep: "tail", lines: 500 },
	edit_file: { characters: 10_000, keep: "tail" },
	apply_patch: { characters: 10_000, keep: "tail" },
	write_file: { characters: 1_000, keep: "tail" },
	spawn_agent: { characters: 20_000, keep: "head_tail" },
	wait: { characters: 20_000, keep: "head_tail" },
};

/** Limits that a host sets for single tools, by wire name. */
export interface OutputLimitOverrides {
	characters?: Record<string, number> | undefined;
	lines?: Record<string, number> | undefined;
}

/** The limit that holds for a tool; tools that are not listed get 30,000 characters of both ends. */
export function findOutputLimit(tool: string, overrides: OutputLimitOverrides = {}): OutputLimit {
	const limit = { ...(limits[tool] ?? { characters: 30_000, keep: "head_tail" as const }) };
	const characters = overrides.characters?.[tool];
	const lines = overrides.lines?.[tool];
	if (characters !== undefined) limit.characters = characters;
	if (lines !== undefined) limit.lines = lines;
	return limit;
}

function isLowSurrogate(text: string, at: number): boolean {
	const unit = text.charCodeAt(at);
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The first `count` units, one less where the cut would split a character. */
function takeHead(text: string, count: number): string {
	return text.slice(0, isLowSurrogate(text, count) ? count - 1 : count);
}

function takeTail(text: string, count: number): string {
	const start = text.length - count;
	return text.slice(isLowSurrogate(text, start) ? start + 1 : start);
}

interface CutText {
	text: string;
	/** Set when characters were removed; stands on its own line of `text`. */
	marker?: string;
}

function cutCharacters(text: string, { characters, keep }: OutputLimit): CutText {
	if (text.length <= characters) return { text };
	const removed = text.length - characters;
	if (keep === "tail") {
		const marker = `[WARNING: Tool output was truncated. First ${removed} characters were removed. The event stream holds the full output.]`;
		return { text: `${marker}\n\n${takeTail(text, characters)}`, marker };
	}
	const half = Math.floor(characters / 2);
	const marker = `[WARNING: Tool output was truncated. ${removed} characters were removed from the middle. The event stream holds the full output. To see a certain part, call the tool again with narrower parameters.]`;
	return { text: `${takeHead(text, half)}\n\n${marker}\n\n${takeTail(text, half)}`, marker };
}

function cutLines({ text, marker }: CutText, limit: number): string {
	const lines = text.split("\n");
	if (lines.length <= limit) return text;
	const head = Math.floor(limit / 2);
	const tail = limit - head;
	const omitted = lines.slice(head, lines.length - tail);
	const middle = [`[... ${omitted.length} lines omitted ...]`];
	// The reader must learn of both cuts.
	if (marker !== undefined && omitted.includes(marker)) middle.push(marker);
	return [...lines.slice(0, head), ...middle, ...lines.slice(lines.length - tail)].join("\n");
}

/** What the model gets to read of a tool's output: characters are cut first, then lines; each cut says what is gone. */
export function truncateOutput(text: string, limit: OutputLimit): string {
	const cut = cutCharacters(text, limit);
	return limit.lines === undefined ? cut.text : cutLines(cut, limit.lines);
}
