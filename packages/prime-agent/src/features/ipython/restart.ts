import type { KernelRestart, LostName } from "../../session/ports.ts";

/** More names than this are counted instead of listed. */
const MAX_LISTED = 60;
const MAX_NAME = 100;
const MAX_REASON = 100;

/** What the model reads before the output of the first cell in a new kernel; undefined: nothing is known of before. */
export function describeRestart(restart: KernelRestart | undefined): string {
	const how = restart?.how && firstLine(restart.how);
	const began = how
		? `${how} This cell got a new kernel.`
		: restart
			? "The session goes on in a new kernel."
			: "The kernel had ended and was started anew:";
	if (!restart) return `[${began} all variables from before are gone.]\n`;
	const { restored, lost, behind, problem, folder } = restart;
	const isAllGone = restored.length === 0 && lost.length === 0;
	const sentences = [
		began,
		problem && `The snapshot of the variables could not be used: ${problem}.`,
		restored.length > 0 && `Variables restored from a snapshot: ${list(restored.map((name) => ({ name })))}.`,
		restored.length > 0 && behind !== 0 && describeBehind(behind),
		lost.length > 0 && `Gone: ${list(lost)}.`,
		isAllGone ? "All variables from before are gone." : "Nothing was run again.",
		folder && `The folder ${folder} is not there any more.`,
		!isAllGone && "Background jobs, tasks, open files and environment variables set by cells are gone too.",
	];
	return `[${sentences.filter(Boolean).join(" ")}]\n`;
}

function describeBehind(behind: number | "unknown"): string {
	if (behind === "unknown") return "It may be older than the last cells: check values before you rely on them.";
	return behind === 1
		? "It was taken before the last cell: what that cell changed is missing."
		: `It was taken before the last ${behind} cells: what they changed is missing.`;
}

function list(names: readonly LostName[]): string {
	const listed = names
		.slice(0, MAX_LISTED)
		.map(({ name, why }) => name.slice(0, MAX_NAME) + (why ? ` (${why.slice(0, MAX_REASON)})` : ""));
	const more = names.length - listed.length;
	return listed.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function firstLine(text: string): string {
	return text.split("\n", 1)[0] ?? "";
}
