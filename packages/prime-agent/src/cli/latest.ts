import { cleanForTerminal } from "../modes/terminal-text.ts";
import { readFirstPrompt } from "../resources/first-prompt.ts";
import { findLatest, type SessionFile } from "../resources/session-files.ts";
import { UsageError } from "./errors.ts";

const COUNT = 5;
/** Characters of a prompt that are shown: the line then fits a terminal of 100 columns. */
const PROMPT_WIDTH = 60;
/** The end of an id tells sessions apart; its beginning is the time, and alike for those of one day. */
const ID_WIDTH = 12;

/** The error for `--resume` without a value: names the latest sessions of the folder, so that a person can pick one. */
export async function askForSession(folder: string, cwd: string, now: number): Promise<UsageError> {
	const latest = await findLatest(folder, cwd, COUNT);
	if (latest.length === 0) {
		return new UsageError(`There is no session of ${cwd} to resume. Start one without --resume.`);
	}
	const lines = [];
	for (const session of latest) {
		const age = describeAge(now - session.modified);
		lines.push(`  ${selectorOf(session, latest)}  ${age}  ${await describePrompt(session.path)}`);
	}
	return new UsageError(
		`Name the session that --resume goes on with; --continue takes the newest. The latest of ${cwd}:\n${lines.join("\n")}`,
	);
}

/** What can be given to `--resume` and means this session. */
function selectorOf(session: SessionFile, others: readonly SessionFile[]): string {
	const end = endOf(session);
	const isPlain = /^[\w-]+$/.test(end);
	return isPlain && others.filter((other) => endOf(other) === end).length === 1 ? end : session.path;
}

function endOf({ header }: SessionFile): string {
	return header.id.slice(-ID_WIDTH);
}

function describeAge(ms: number): string {
	const ago = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"} ago`;
	const minutes = Math.floor(ms / 60_000);
	const hours = Math.floor(minutes / 60);
	if (minutes < 1) return "just now";
	if (hours < 1) return ago(minutes, "minute");
	return hours < 24 ? ago(hours, "hour") : ago(Math.floor(hours / 24), "day");
}

async function describePrompt(path: string): Promise<string> {
	const prompt = await readFirstPrompt(path);
	if (prompt === undefined) return "(its first prompt cannot be read)";
	// What was said may be anything; here it stands in one line of an error.
	const line = [...cleanForTerminal(prompt).replaceAll(/\s+/g, " ").trim()];
	return line.length > PROMPT_WIDTH ? `${line.slice(0, PROMPT_WIDTH - 1).join("")}…` : line.join("");
}
