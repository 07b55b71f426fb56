import { PassThrough } from "node:stream";
import type { SessionEvent } from "../../protocol/event.ts";
import type { SessionPort } from "../../protocol/session-port.ts";

/** The answer to a prompt, given while its events are told. */
export type PromptHandler = (
	tell: (event: SessionEvent) => void,
	aborted: Promise<void>,
) => Promise<{ actionId: number; stage: string; error?: string; said?: string }>;

/** A session that answers each prompt as a test says; `calls` are the operations that were called. */
export function fakeSession(onPrompt: PromptHandler): SessionPort & { readonly calls: [string, unknown][] } {
	const listeners = new Set<(event: SessionEvent) => void>();
	const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
	const calls: [string, unknown][] = [];
	return {
		calls,
		header: {
			type: "session",
			version: 3,
			id: "01890000-0000-7000-8000-00000000aaaa",
			timestamp: "2026-01-01T00:00:00.000Z",
			cwd: "/home/user/project",
			rlmDepth: 0,
		},
		file: undefined,
		call(name, params) {
			calls.push([name, params]);
			if (name === "run.abort") abort();
			const tell = (event: SessionEvent) => {
				for (const listener of listeners) listener(event);
			};
			return name === "prompt.send" ? onPrompt(tell, aborted) : Promise.resolve({ restored: [] });
		},
		subscribe(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		dispose: async () => undefined,
	};
}

/** The events of a reply that streams the text in two pieces. */
export function replyEvents(text: string, end: Record<string, unknown> = {}): SessionEvent[] {
	const half = Math.ceil(text.length / 2);
	const message = (content: string) => ({
		role: "assistant",
		content: [{ type: "text", text: content }],
		stopReason: "stop",
		...end,
	});
	const update = (assistantMessageEvent: object, soFar: string) => ({
		type: "message_update",
		message: message(soFar),
		assistantMessageEvent: { contentIndex: 0, partial: message(soFar), ...assistantMessageEvent },
	});
	return [
		{ type: "message_start", message: { ...message(""), content: [] } },
		update({ type: "text_start" }, ""),
		update({ type: "text_delta", delta: text.slice(0, half) }, text.slice(0, half)),
		update({ type: "text_delta", delta: text.slice(half) }, text),
		update({ type: "text_end", content: text }, text),
		{ type: "message_end", message: message(text) },
	] as unknown as SessionEvent[];
}

/** A stream that keeps what is written to it. */
export function recordOutput(): PassThrough & { readonly text: string } {
	const stream = new PassThrough();
	let text = "";
	stream.on("data", (chunk: Buffer) => {
		text += chunk.toString("utf8");
	});
	return Object.defineProperty(stream, "text", { get: () => text }) as PassThrough & { readonly text: string };
}
