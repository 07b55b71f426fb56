import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { findFaults, findUnknownFields } from "./faults.ts";

/** One request of an agent CLI for a model's answer. */
export interface ForeignRequest {
	readonly path: string;
	/** Text of the last message of the user. */
	readonly text: string;
	/** Whether the client has closed the request before its answer was complete. */
	isAborted: boolean;
	isAnswered: boolean;
	/** When its answer was complete, in milliseconds since the epoch. */
	answeredAt?: number;
}

/**
 * A model server for agent CLIs that are not ours: it answers the four wire formats with a short text, takes any field
 * and path and notes the unknown ones, notes broken pairing, order and schemas as faults, and holds requests whose text
 * contains HOLD until it is told to go on.
 */
export class LenientModel implements AsyncDisposable {
	readonly requests: ForeignRequest[] = [];
	/** Paths that asked for no model answer. */
	readonly otherPaths: string[] = [];
	/** What requests broke that every real server insists on. */
	readonly faults: string[] = [];
	/** Fields of requests that the project's own clients do not send. */
	readonly unknownFields = new Set<string>();
	readonly #server = createServer((request, response) => void this.#answer(request, response));
	#held: (() => void)[] = [];
	#count = 0;

	async start(): Promise<string> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	/** Lets all held requests go on. */
	release(): void {
		for (const go of this.#held) go();
		this.#held = [];
	}

	/** Texts of the requests, without those that a CLI makes for itself, such as titles. */
	texts(): string[] {
		return this.requests.map((request) => request.text);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.release();
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
		const path = (incoming.url ?? "").replace(/\?.*$/, "");
		let body = "";
		for await (const chunk of incoming) body += chunk;
		const format = FORMATS.find((each) => each.path.test(path));
		if (format === undefined || body === "") {
			this.otherPaths.push(`${incoming.method} ${path}`);
			response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(OTHER));
			return;
		}
		const document = JSON.parse(body) as Record<string, unknown>;
		this.faults.push(...findFaults(path, document).map((fault) => `${path}: ${fault}`));
		for (const field of findUnknownFields(path, document)) this.unknownFields.add(field);
		const request: ForeignRequest = {
			path,
			text: format.lastText(document),
			isAborted: false,
			isAnswered: false,
		};
		this.requests.push(request);
		response.on("close", () => {
			request.isAborted = !request.isAnswered;
		});
		if (request.text.includes("HOLD")) await new Promise<void>((go) => this.#held.push(go));
		if (response.destroyed) return;
		this.#count += 1;
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write(format.reply(`ANSWER-${this.#count}`));
		request.isAnswered = true;
		request.answeredAt = Date.now();
		response.end();
	}
}

const OTHER = {
	data: [{ id: "mock-model", object: "model", type: "model", display_name: "Mock" }],
	models: [],
	input_tokens: 10,
};

interface Format {
	readonly path: RegExp;
	readonly lastText: (body: Record<string, unknown>) => string;
	readonly reply: (text: string) => string;
}

const FORMATS: readonly Format[] = [
	{
		path: /\/responses$/,
		lastText: (body) => lastUserText(body.input),
		reply: (text) => {
			const message = {
				type: "message",
				id: "msg_1",
				role: "assistant",
				status: "completed",
				content: [{ type: "output_text", text, annotations: [] }],
			};
			const usage = {
				input_tokens: 10,
				input_tokens_details: { cached_tokens: 0 },
				output_tokens: 5,
				output_tokens_details: { reasoning_tokens: 0 },
				total_tokens: 15,
			};
			const events: [string, object][] = [
				["response.created", { response: { id: "resp_1", status: "in_progress", output: [] } }],
				["response.output_item.added", { output_index: 0, item: { ...message, status: "in_progress", content: [] } }],
				["response.output_text.delta", { item_id: "msg_1", output_index: 0, content_index: 0, delta: text }],
				["response.output_item.done", { output_index: 0, item: message }],
				["response.completed", { response: { id: "resp_1", status: "completed", output: [message], usage } }],
			];
			return events.map(([type, data]) => frame({ type, ...data }, type)).join("");
		},
	},
	{
		path: /\/messages$/,
		lastText: (body) => lastUserText(body.messages),
		reply: (text) => {
			const usage = { input_tokens: 10, output_tokens: 5 };
			const message = {
				id: "msg_1",
				type: "message",
				role: "assistant",
				model: "mock-model",
				content: [],
				stop_reason: null,
				stop_sequence: null,
				usage,
			};
			const events: [string, object][] = [
				["message_start", { message }],
				["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
				["content_block_delta", { index: 0, delta: { type: "text_delta", text } }],
				["content_block_stop", { index: 0 }],
				["message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }],
				["message_stop", {}],
			];
			return events.map(([type, data]) => frame({ type, ...data }, type)).join("");
		},
	},
	{
		path: /\/chat\/completions$/,
		lastText: (body) => lastUserText(body.messages),
		reply: (text) => {
			const base = { id: "c1", object: "chat.completion.chunk", created: 1, model: "mock-model" };
			const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
			const first = {
				...base,
				choices: [{ index: 0, delta: { role: "assistant", content: text }, finish_reason: null }],
			};
			const last = { ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage };
			return `${frame(first)}${frame(last)}data: [DONE]\n\n`;
		},
	},
	{
		path: /:streamGenerateContent$/,
		lastText: (body) => lastUserText(body.contents),
		reply: (text) =>
			frame({
				candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
				usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
			}),
	},
];

function frame(data: object, event?: string): string {
	return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Text of the last user message: its last text part, because CLIs put their own notes before what was typed. */
function lastUserText(messages: unknown): string {
	if (typeof messages === "string") return messages;
	if (!Array.isArray(messages)) return "";
	const message = messages.findLast((each: { role?: unknown }) => each.role === "user") as
		| { content?: unknown; parts?: unknown }
		| undefined;
	const content = message?.content ?? message?.parts;
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	const parts = content.flatMap((part: { text?: unknown }) => (typeof part.text === "string" ? [part.text] : []));
	return parts.at(-1) ?? "";
}
