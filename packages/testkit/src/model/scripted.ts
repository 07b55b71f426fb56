/** A model that plays a script inside the process, on the types of the model library. */

import {
	type Api,
	type AssistantMessage,
	type AssistantMessageEvent,
	type AssistantMessageEventStream,
	type Context,
	createAssistantMessageEventStream,
	type JsonObject,
	type Message,
	type Model,
	type SimpleStreamOptions,
	type Tool,
	type ToolCall,
	type TranscriptContext,
	type Usage,
} from "@earendil-works/pi-ai";
import { waitFor } from "../process/wait.ts";
import {
	argumentsText,
	cutText,
	listBlocks,
	type ReplyOptions,
	type ReplyStep,
	resolveFinish,
} from "../servers/step.ts";
import { findPairingFault } from "./pairing.ts";

/** One request that the scripted model got. */
export interface ModelCall {
	readonly model: Model<Api>;
	/** A deep copy, as it was at the time of the call. */
	readonly context: {
		readonly systemPrompt?: string;
		readonly messages: Message[];
		/** Declared tools without what runs them, when the request lists them beside the messages. */
		readonly tools?: Pick<Tool, "name" | "description" | "parameters">[];
	};
	readonly options: SimpleStreamOptions | undefined;
}

/** A reply that fails: the content is streamed, then the message ends with this error. */
export interface ErrorStep {
	readonly kind: "error";
	readonly message: string;
	readonly content: ReplyOptions;
}

/** One answer of the scripted model, or a function that makes it from the call it answers. */
export type ModelStep = ReplyStep | ErrorStep | ((call: ModelCall) => ModelStep | Promise<ModelStep>);

/** A scripted model with everything that a loop needs to talk to it. */
export interface ScriptedModel {
	readonly model: Model<Api>;
	readonly streamFn: (
		model: Model<Api>,
		context: Context | TranscriptContext,
		options?: SimpleStreamOptions,
	) => AssistantMessageEventStream;
	/** Every request in order, refused ones too. */
	readonly calls: readonly ModelCall[];
	/** Steps that no request has used yet. */
	readonly remaining: number;
	/** Adds answers. */
	script(...steps: readonly ModelStep[]): void;
	/** Resolves when n requests have arrived; rejects after `timeoutMs` (30,000). */
	waitForCalls(n: number, timeoutMs?: number): Promise<void>;
}

/** A reply that ends with stop reason `error` and this text, after the content given. */
export function fail(message: string, content: ReplyOptions = {}): ErrorStep {
	return { kind: "error", message, content };
}

let made = 0;

/**
 * A model that gives these answers in order. A request with an invalid transcript, and one after the last step, end
 * with stop reason `error`, as a real server's refusal would. `silence` keeps the stream open until the signal aborts.
 */
export function scriptedModel(steps: readonly ModelStep[] = []): ScriptedModel {
	made += 1;
	const queue = [...steps];
	const calls: ModelCall[] = [];
	const model: Model<Api> = {
		id: `scripted-${made}`,
		name: "Scripted",
		api: "scripted",
		provider: "scripted",
		baseUrl: "http://127.0.0.1:0",
		input: ["text", "image"],
		cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
		reasoning: true,
		contextWindow: 200_000,
		maxTokens: 8_192,
	};
	return {
		model,
		calls,
		get remaining() {
			return queue.length;
		},
		script: (...added) => {
			queue.push(...added);
		},
		waitForCalls: (n, timeoutMs) => waitFor(() => calls.length >= n, `${n} model calls`, timeoutMs),
		streamFn(asked, context, options) {
			const call: ModelCall = { model: asked, context: structuredClone(plainContext(context)), options };
			calls.push(call);
			const stream = createAssistantMessageEventStream();
			const player = new Player(stream, asked, options?.signal);
			player.play(call, queue).catch((error: unknown) => player.end("error", String(error)));
			return stream;
		},
	};
}

/** The request without functions, which cannot be copied. */
function plainContext(context: Context | TranscriptContext): ModelCall["context"] {
	const { systemPrompt, messages, tools }: Context = context;
	return {
		...(systemPrompt === undefined ? {} : { systemPrompt }),
		...(tools === undefined ? {} : { tools: tools.map(plainTool) }),
		messages: messages.map((message) =>
			message.role === "system" && message.toolsAdded
				? { ...message, toolsAdded: message.toolsAdded.map(plainTool) }
				: message,
		),
	};
}

function plainTool({ name, description, parameters }: Tool): Tool {
	return { name, description, parameters };
}

/** Plays one reply into one stream, and stops at once when the signal aborts. */
class Player {
	readonly #stream: AssistantMessageEventStream;
	readonly #signal: AbortSignal | undefined;
	readonly #message: AssistantMessage;
	#isEnded = false;

	constructor(stream: AssistantMessageEventStream, model: Model<Api>, signal: AbortSignal | undefined) {
		this.#stream = stream;
		this.#signal = signal;
		this.#message = {
			role: "assistant",
			content: [],
			api: model.api,
			provider: model.provider,
			model: model.id,
			usage: countUsage(model, {}),
			stopReason: "stop",
			timestamp: Date.now(),
		};
		signal?.addEventListener("abort", () => this.end("aborted", "Request was aborted"), { once: true });
	}

	async play(call: ModelCall, queue: ModelStep[]): Promise<void> {
		if (this.#signal?.aborted) return this.end("aborted", "Request was aborted");
		const fault = findPairingFault(call.context.messages);
		if (fault) return this.end("error", `400 invalid transcript: ${fault}`);
		let step = queue.shift();
		if (!step) return this.end("error", "script exhausted");
		while (typeof step === "function") step = await step(call);
		const content = step.kind === "error" ? step.content : step.reply;
		if (content.silence === "before-headers" || content.silence === "after-headers") return;
		await this.#playContent(call.model, content);
		if (content.silence !== undefined) return;
		if (step.kind === "error") return this.end("error", step.message);
		if (content.errorInStream) return this.end("error", JSON.stringify(content.errorInStream));
		if (content.end && content.end !== "done") return this.end("error", `stream ended early (${content.end})`);
		const finish = resolveFinish(content);
		if (finish === "refusal") return this.end("error", "The model refused to answer.");
		const reason = finish === "tools" ? "toolUse" : finish;
		this.#message.stopReason = reason;
		this.#push({ type: "done", reason, message: this.#message });
		this.#isEnded = true;
	}

	end(reason: "error" | "aborted", errorMessage: string): void {
		if (this.#isEnded) return;
		this.#message.stopReason = reason;
		this.#message.errorMessage = errorMessage;
		this.#push({ type: "error", reason, error: this.#message });
		this.#isEnded = true;
	}

	async #playContent(model: Model<Api>, content: ReplyOptions): Promise<void> {
		this.#message.usage = countUsage(model, content.usage ?? {});
		this.#push({ type: "start", partial: this.#message });
		const limit =
			typeof content.silence === "object" && "afterEvents" in content.silence ? content.silence.afterEvents : -1;
		let events = 0;
		for (const [contentIndex, block] of listBlocks(content).entries()) {
			for (const event of this.#blockEvents(block, contentIndex, content.chunk)) {
				if (events === limit || this.#isEnded) return;
				events += 1;
				event();
				// A real stream arrives over many turns of the event loop.
				await new Promise((resolve) => setImmediate(resolve));
			}
		}
	}

	*#blockEvents(
		block: ReturnType<typeof listBlocks>[number],
		contentIndex: number,
		chunk: number | undefined,
	): Generator<() => void> {
		const partial = this.#message;
		if (block.type === "call") {
			const text = argumentsText(block);
			const toolCall: ToolCall = {
				type: "toolCall",
				id: block.id ?? `call_${partial.timestamp}_${contentIndex}`,
				name: block.name,
				arguments: {},
			};
			yield () => {
				partial.content.push(toolCall);
				this.#push({ type: "toolcall_start", contentIndex, partial });
			};
			for (const delta of cutText(text, chunk)) {
				yield () => this.#push({ type: "toolcall_delta", contentIndex, delta, partial });
			}
			yield () => {
				Object.assign(toolCall, parseArguments(text));
				this.#push({ type: "toolcall_end", contentIndex, toolCall, partial });
			};
			return;
		}
		const { type } = block;
		const part: { type: "text"; text: string } | { type: "thinking"; thinking: string; thinkingSignature?: string } =
			type === "text" ? { type, text: "" } : { type, thinking: "" };
		yield () => {
			partial.content.push(part);
			this.#push({ type: `${type}_start`, contentIndex, partial });
		};
		for (const delta of cutText(block.text, chunk)) {
			yield () => {
				if (part.type === "text") part.text += delta;
				else part.thinking += delta;
				this.#push({ type: `${type}_delta`, contentIndex, delta, partial });
			};
		}
		yield () => {
			if (part.type === "thinking") part.thinkingSignature = `signature-${partial.model}-${contentIndex}`;
			this.#push({ type: `${type}_end`, contentIndex, content: block.text, partial });
		};
	}

	#push(event: AssistantMessageEvent): void {
		if (!this.#isEnded) this.#stream.push(event);
	}
}

/** Like the real clients: arguments that are not a JSON object become `{}` with `argumentsError`. */
function parseArguments(text: string): { arguments: JsonObject; argumentsError?: string } {
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value === "object" && value !== null && !Array.isArray(value)) return { arguments: value as JsonObject };
		return { arguments: {}, argumentsError: `arguments are no JSON object: ${text}` };
	} catch (error) {
		return { arguments: {}, argumentsError: `${String(error)}: ${text}` };
	}
}

function countUsage(model: Model<Api>, scripted: NonNullable<ReplyOptions["usage"]>): Usage {
	const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0, reasoning } = scripted;
	const fresh = input - cacheRead - cacheWrite;
	const cost = {
		input: (fresh * model.cost.input) / 1e6,
		output: (output * model.cost.output) / 1e6,
		cacheRead: (cacheRead * model.cost.cacheRead) / 1e6,
		cacheWrite: (cacheWrite * model.cost.cacheWrite) / 1e6,
	};
	return {
		input: fresh,
		output,
		cacheRead,
		cacheWrite,
		...(reasoning === undefined ? {} : { reasoning }),
		totalTokens: input + output,
		cost: { ...cost, total: cost.input + cost.output + cost.cacheRead + cost.cacheWrite },
	};
}
