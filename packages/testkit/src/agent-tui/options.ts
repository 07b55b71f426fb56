import { parseArgs } from "node:util";

/** How the fake agent behaves; times in milliseconds. */
export interface FakeOptions {
	readonly style: "claude" | "codex" | "plain";
	/** Rest before the terminal becomes raw; the kernel echoes until then. */
	readonly boot: number;
	/** Then rest further until this file is there. */
	readonly bootUntil: string | undefined;
	/** Raw, but nothing is drawn until then. */
	readonly blank: number;
	/** How long the screen stays blank after C-l. */
	readonly repaint: number;
	/** A counter is repainted until then. */
	readonly animate: number;
	/** Question that swallows keys until it is answered. */
	readonly wall: string | undefined;
	/** The wall's two answers; the first one opens it. */
	readonly wallAnswers: readonly [string, string];
	/** Whether the wall's cursor starts on No. */
	readonly wallNo: boolean;
	/** The wall's cursor is drawn this much later than it moves, and it wraps around. */
	readonly wallLag: number;
	/** A wall that never opens. */
	readonly login: boolean;
	readonly border: boolean;
	/** Row that always stands below the screen. */
	readonly footer: string | undefined;
	/** Length of a turn; `Infinity` never ends. */
	readonly turn: number;
	/** A running turn ends as soon as something is typed. */
	readonly endOnInput: boolean;
	readonly ignoreEnter: number;
	readonly ignoreTab: boolean;
	/** Prints a filled composer and reads nothing. */
	readonly printed: boolean;
	readonly noEcho: boolean;
	/** Text of this length, or of several lines, is shown as a chip. */
	readonly chip: number;
	/** `C-u` removes one line only. */
	readonly killLine: boolean;
	/** Writes a rollout file: `grow` without turn events, `events` with them. */
	readonly rollout: "grow" | "events" | undefined;
	/** Shell command that is run at each change of state, with `active`, `waiting` or `idle` behind it. */
	readonly hooks: string | undefined;
	/** A turn ends with a question for a person. */
	readonly ask: boolean;
	readonly result: string | undefined;
	readonly resultAfter: number;
	readonly die: number;
	/** Text that is printed before anything else, as if it stood in the scrollback. */
	readonly prelude: string;
	/** Enter that follows a paste sooner than this becomes a new line and wedges the composer. */
	readonly wedge: number;
	/** The first Enter after the first paste wedges the composer until it is cleared. */
	readonly wedgeOnce: boolean;
	readonly log: string | undefined;
}

/** Reads the fake agent's command line. */
export function parseFakeOptions(args: readonly string[]): FakeOptions {
	const text = { type: "string" } as const;
	const flag = { type: "boolean" } as const;
	const { values } = parseArgs({
		args: [...args],
		allowPositionals: true,
		options: {
			...{
				style: text,
				boot: text,
				"boot-until": text,
				"end-on-input": flag,
				footer: text,
				repaint: text,
				blank: text,
				animate: text,
				wall: text,
				"wall-answers": text,
				"wall-no": flag,
				"wall-lag": text,
				login: flag,
			},
			...{ border: flag, turn: text, "turn-forever": flag, "ignore-enter": text, "ignore-tab": flag, printed: flag },
			...{ "no-echo": flag, chip: text, "kill-line": flag, rollout: text, hooks: text, ask: flag, result: text },
			...{ "result-after": text, die: text, prelude: text, wedge: text, "wedge-once": flag, log: text },
		},
	});
	const number = (value: string | undefined, fallback: number) => (value === undefined ? fallback : Number(value));
	const style = values.style ?? "plain";
	const [yes = "", no = ""] = (values["wall-answers"] ?? "Yes, I trust it|No, exit").split("|");
	return {
		style: style === "claude" || style === "codex" ? style : "plain",
		boot: number(values.boot, 0),
		bootUntil: values["boot-until"],
		blank: number(values.blank, 0),
		repaint: number(values.repaint, 0),
		animate: number(values.animate, 0),
		wall: values.wall,
		wallAnswers: [yes, no],
		wallNo: values["wall-no"] ?? false,
		wallLag: number(values["wall-lag"], 0),
		login: values.login ?? false,
		border: values.border ?? false,
		footer: values.footer,
		turn: values["turn-forever"] ? Number.POSITIVE_INFINITY : number(values.turn, 0),
		endOnInput: values["end-on-input"] ?? false,
		ignoreEnter: number(values["ignore-enter"], 0),
		ignoreTab: values["ignore-tab"] ?? false,
		printed: values.printed ?? false,
		noEcho: values["no-echo"] ?? false,
		chip: number(values.chip, Number.POSITIVE_INFINITY),
		killLine: values["kill-line"] ?? false,
		rollout: values.rollout === "grow" || values.rollout === "events" ? values.rollout : undefined,
		hooks: values.hooks,
		ask: values.ask ?? false,
		result: values.result,
		resultAfter: number(values["result-after"], 0),
		die: number(values.die, Number.POSITIVE_INFINITY),
		prelude: values.prelude ?? "",
		wedge: number(values.wedge, 0),
		wedgeOnce: values["wedge-once"] ?? false,
		log: values.log,
	};
}
