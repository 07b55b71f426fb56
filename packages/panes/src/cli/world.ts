import type { CommandWorld } from "./command.ts";

/** The world of this process: its environment, folder and standard streams; SIGINT and SIGTERM abort the signal. */
export function makeProcessWorld(): CommandWorld {
	const stop = new AbortController();
	const onSignal = (signal: NodeJS.Signals) => stop.abort(new Error(`stopped by ${signal}`));
	process.once("SIGINT", onSignal);
	process.once("SIGTERM", onSignal);
	// A reader that has seen enough, such as head, is no failure.
	process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
	return {
		env: process.env,
		cwd: process.cwd(),
		signal: stop.signal,
		print: (text) => void process.stdout.write(`${text}\n`),
		note: (text) => void process.stderr.write(`${neutralise(text)}\n`),
		ask: askOnTerminal,
		readInput: async () => {
			let text = "";
			process.stdin.setEncoding("utf8");
			for await (const chunk of process.stdin) text += chunk;
			return text;
		},
	};
}

async function askOnTerminal(question: string): Promise<string | undefined> {
	if (!process.stdin.isTTY) return undefined;
	const { createInterface } = await import("node:readline/promises");
	const terminal = createInterface({ input: process.stdin, output: process.stderr });
	try {
		return await terminal.question(question);
	} finally {
		terminal.close();
	}
}

/**
 * Screens, names and the files of projects come from others: what would move the cursor or turn the order of characters
 * around must not reach this terminal, where a person decides what to trust.
 */
function neutralise(text: string): string {
	return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (char) =>
		char === "\n" || char === "\t" ? char : "\ufffd",
	);
}
