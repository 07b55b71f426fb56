import type { RunEnd, SessionEvent, TokenUsage } from "@prime-agent/toolset";
import type { GatedCall } from "./gate.ts";
import { shortenSubject, toOneLine } from "./output.ts";

/** Where a run is shown. */
export interface Screen {
	/** The agent's words and nothing else. */
	stdout(text: string): void;
	stderr(text: string): void;
}

/** Shows the events of a session: words on stdout as they come, one line per tool call on stderr. */
export class Renderer {
	readonly #screen: Screen;
	#turns = 0;
	#calls = 0;
	#isMidLine = false;

	constructor(screen: Screen) {
		this.#screen = screen;
	}

	/** Takes the next event. */
	show(event: SessionEvent): void {
		switch (event.type) {
			case "message_update":
				if (event.assistantMessageEvent.type === "text_delta") this.#write(event.assistantMessageEvent.delta);
				break;
			case "message_end":
				if (event.message.role !== "assistant") break;
				this.#endLine();
				if (event.message.stopReason !== "error" && event.message.stopReason !== "aborted") this.#turns++;
				break;
			case "tool_execution_start":
				this.#calls++;
				this.#screen.stderr(`[tool] ${describeCall(event)}\n`);
				break;
			case "retry": {
				const seconds = (event.delayMs / 1000).toFixed(1);
				this.#screen.stderr(`retry ${event.attempt} in ${seconds} s: ${toOneLine(event.error)}\n`);
				break;
			}
			case "warning":
				if (event.kind !== "limit") this.#screen.stderr(`warning: ${toOneLine(event.message)}\n`);
				break;
		}
	}

	/** Shows that a call was not run, and why. */
	showRefusal(call: GatedCall, reason: string): void {
		this.#screen.stderr(`[refused] ${describeCall(call)} (${reason})\n`);
	}

	/** Shows why a run did not succeed. */
	showError(message: string): void {
		this.#endLine();
		this.#screen.stderr(`error: ${toOneLine(message)}\n`);
	}

	/** Shows the end of a run. */
	showEnd(end: RunEnd): void {
		this.#endLine();
		if (end.reason !== "stop") this.showError(end.error ?? end.reason);
	}

	/** The closing line. */
	showSummary({ prompt, output }: Readonly<TokenUsage>): void {
		const tokens = ((prompt + output) / 1000).toFixed(1);
		this.#screen.stderr(`Done (${this.#turns} turns, ${this.#calls} tool calls, ${tokens}k tokens)\n`);
	}

	#write(text: string): void {
		if (text === "") return;
		this.#screen.stdout(text);
		this.#isMidLine = !text.endsWith("\n");
	}

	#endLine(): void {
		if (this.#isMidLine) this.#write("\n");
	}
}

function describeCall({ label, subject }: { label: string; subject: string }): string {
	return [toOneLine(label), shortenSubject(subject)].join(" ").trimEnd();
}
