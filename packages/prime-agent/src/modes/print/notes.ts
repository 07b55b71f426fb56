import type { SessionEvent } from "../../protocol/event.ts";

const LINE_LIMIT = 160;

/** What print mode says beside the answer when an event comes, or undefined for nothing. */
export function describeEvent(event: SessionEvent, isWatched: boolean): string | undefined {
	switch (event.type) {
		case "notice":
			return event.level === "warning" ? `Warning: ${event.text}` : event.text;
		case "feature_error":
			return `Warning: ${event.feature} failed during ${event.during}: ${event.error}`;
		case "feature_event":
			return describeWait(event);
		case "tool_execution_start":
			return isWatched ? `[${event.toolName}] ${firstLine(describeArguments(event.args))}` : undefined;
		case "tool_execution_end":
			return isWatched && event.isError
				? `[${event.toolName}] failed: ${lastLine(resultText(event.result))}`
				: undefined;
		default:
			return undefined;
	}
}

/** A wait that a person would take for a hang. */
function describeWait({ name, data }: Extract<SessionEvent, { type: "feature_event" }>): string | undefined {
	if (name === "compaction_start") {
		const isAsked = data.reason === "manual" || data.reason === "requested";
		return isAsked ? "The conversation is being summarized." : "The conversation is long: it is being summarized.";
	}
	if (name !== "auto_retry_start") return undefined;
	const { attempt, maxAttempts, delayMs, errorMessage } = data;
	// What a person can do about it stands in the lines below, and is told when the run gives up.
	const reason = shorten(String(errorMessage).trim().split("\n")[0] ?? "");
	return `${reason}${/[.!?]$/.test(reason) ? "" : "."} Trying again in ${Number(delayMs) / 1_000} s (${attempt} of ${maxAttempts}).`;
}

function describeArguments(args: unknown): string {
	const code = (args as { code?: unknown } | undefined)?.code;
	return typeof code === "string" ? code : JSON.stringify(args ?? {});
}

function resultText(result: Extract<SessionEvent, { type: "tool_execution_end" }>["result"]): string {
	return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function firstLine(text: string): string {
	const [line = "", ...rest] = text.trim().split("\n");
	const more = rest.length > 0 ? ` … (${rest.length} more lines)` : "";
	return `${shorten(line)}${more}`;
}

function lastLine(text: string): string {
	return shorten(text.trim().split("\n").at(-1) ?? "");
}

function shorten(line: string): string {
	return line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT)}…` : line;
}
