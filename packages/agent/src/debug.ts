import type { GuardOptions } from "@prime-agent/loop";
import { showSigns } from "./output.ts";

type DebugSink = NonNullable<GuardOptions["debug"]>;
type DebugRecord = Parameters<DebugSink>[0];

function prettyJson(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		// What is no JSON is shown as it is.
		return text;
	}
}

function listHeaders(headers: Record<string, string>): string {
	return Object.entries(headers)
		.map(([name, value]) => `\n  ${name}: ${value}`)
		.join("");
}

function describeRecord(record: DebugRecord): string {
	switch (record.type) {
		case "request":
			return `request ${record.method} ${record.url}${listHeaders(record.headers)}\n${prettyJson(record.body)}`;
		case "response":
			return `response ${record.status}${listHeaders(record.headers)}`;
		case "line":
		case "body":
			return record.text;
		case "failure":
			return `failure: ${record.text}`;
	}
}

/** Shows what goes over the wire, every line behind `[debug] `; the records come without credentials. */
export function createDebugSink(write: (text: string) => void): DebugSink {
	return (record) => {
		const lines = describeRecord(record).split("\n");
		write(lines.map((line) => `[debug] ${showSigns(line)}\n`).join(""));
	};
}
