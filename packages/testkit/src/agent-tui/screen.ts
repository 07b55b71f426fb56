import type { FakeOptions } from "./options.ts";

/** What the fake agent shows. */
export interface FakeState {
	readonly transcript: readonly string[];
	readonly draft: string;
	readonly queue: readonly string[];
	readonly isBusy: boolean;
	readonly isAsking: boolean;
	/** Which of the wall's two answers carries the cursor; undefined when there is no wall. */
	readonly wallAt: 0 | 1 | undefined;
	readonly tick: number;
}

/** The rows of the fake agent's screen in its style. */
export function drawFake(options: FakeOptions, state: FakeState, width: number): string[] {
	const rows = drawStyle(options, state, width);
	return options.footer === undefined ? rows : [...rows, options.footer];
}

function drawStyle(options: FakeOptions, state: FakeState, width: number): string[] {
	if (state.wallAt !== undefined) return drawWall(options, state.wallAt);
	if (state.isAsking) return [...state.transcript, "", ...drawQuestion()];
	const draft = options.noEcho ? "" : foldDraft(options, state.draft);
	if (options.style === "claude") return drawClaude(state, draft, width);
	if (options.style === "codex") return drawCodex(state, draft, width);
	return drawPlain(options, state, draft, width);
}

function drawWall(options: FakeOptions, at: 0 | 1): string[] {
	const isCodex = options.style === "codex";
	const cursor = (index: number) => (index !== at ? "  " : isCodex ? " ›" : " ❯");
	const answers = options.wallAnswers.map((answer, index) => `${cursor(index)} ${index + 1}. ${answer}`);
	const hint = isCodex ? " Press enter to confirm" : " Enter to confirm · Esc to cancel";
	return [` ${options.wall}`, "", ...answers, "", hint];
}

function drawQuestion(): string[] {
	return [" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"];
}

function drawClaude(state: FakeState, draft: string, width: number): string[] {
	const rule = "─".repeat(width);
	const spinner = state.isBusy ? ["", `✻ Brewing… (${state.tick}s · esc to interrupt)`] : [];
	const queued = state.queue.flatMap((text) => [`❯ ${text}`, "  ⎿  Queued · ctrl+x ctrl+s to send now"]);
	const content =
		draft === "" ? ["❯ "] : wrap(draft, width - 2).map((line, index) => (index === 0 ? "❯ " : "  ") + line);
	const footer = state.isBusy ? "  esc to interrupt" : "  ? for shortcuts · ← for agents";
	return [...state.transcript, ...queued, ...spinner, "", rule, ...content, rule, footer];
}

function drawCodex(state: FakeState, draft: string, width: number): string[] {
	const working = state.isBusy ? ["", `• Working (${state.tick}s • esc to interrupt)`] : [];
	const queued =
		state.queue.length === 0 ? [] : ["", "• Queued follow-up inputs", ...state.queue.map((text) => `  ↳ ${text}`)];
	const hint = "\u001b[2mAsk Codex to do anything\u001b[0m";
	const content =
		draft === "" ? [`› ${hint}`] : wrap(draft, width - 2).map((line, index) => (index === 0 ? "› " : "  ") + line);
	const footer = state.isBusy && draft !== "" ? "  tab to queue message" : "  ← for agents · ? for shortcuts";
	return [...state.transcript, ...working, ...queued, "", ...content, "", "  fake-model default · ~/project", footer];
}

function drawPlain(options: FakeOptions, state: FakeState, draft: string, width: number): string[] {
	if (!options.border) return [...state.transcript, ...wrap(`> ${draft}`, width)];
	const inner = width - 4;
	const line = (text: string) => `│ ${text.padEnd(inner)} │`;
	return [
		...state.transcript,
		`╭${"─".repeat(width - 2)}╮`,
		...wrap(`> ${draft}`, inner).map(line),
		`╰${"─".repeat(width - 2)}╯`,
	];
}

function foldDraft(options: FakeOptions, draft: string): string {
	const lines = draft.split("\n").length;
	if (lines === 1 && draft.length < options.chip) return draft;
	if (options.chip === Number.POSITIVE_INFINITY) return draft;
	return lines === 1 ? `[Pasted Content ${draft.length} chars]` : `[Pasted text #1 +${lines - 1} lines]`;
}

function wrap(text: string, width: number): string[] {
	return text.split("\n").flatMap((line) => {
		const rows: string[] = [];
		for (let at = 0; at < Math.max(1, line.length); at += width) rows.push(line.slice(at, at + width));
		return rows;
	});
}
