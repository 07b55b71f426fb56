import type {
	Api,
	AssistantMessage,
	Message,
	Model,
	ToolCall,
	ToolResultMessage,
	UserMessage,
} from "@earendil-works/pi-ai";
import { cleanToolName } from "@prime-agent/loop";
import { cutMiddle } from "../lib/text.ts";

/** What matters about the model that a transcript is made for. */
export type TranscriptTarget = Pick<Model<Api>, "api" | "provider" | "id" | "input">;

/**
 * Most characters of one text of a result or of a call's arguments that go to a model: no server takes megabytes, and
 * files of other programs have them.
 */
const TEXT_LIMIT = 100_000;
const NO_IMAGE = "(An image was here; this model cannot see images.)";
const NO_OUTPUT = "(no output)";
const LOST_BEGINNING = "(The beginning of this conversation was lost.)";
const GOES_ON = "(The conversation goes on here.)";
const NO_RESULT = "No result was recorded: the work was interrupted before this call ended. It may have run in part.";

/**
 * Makes the transcript that a strict server accepts, whatever happened: every call has exactly one result, directly
 * after it; what was shown of a broken reply is kept as a finished one, its calls are dropped, since they never ran;
 * thinking goes only back to the model that signed it; images go only to models that see them.
 * Earlier messages come out the same whatever follows them, so that prompt caches hit.
 */
export function repairTranscript(messages: readonly Message[], target: TranscriptTarget): Message[] {
	return new GrowingTranscript().repair(messages, target);
}

/**
 * `repairTranscript` for a conversation that is asked for again and again while it grows: what stands before the last
 * reply can no longer change, so it is made once.
 */
export class GrowingTranscript {
	#target: TranscriptTarget | undefined;
	/** The messages that the last transcript was made of. */
	#messages: readonly Message[] = [];
	#repaired: Message[] = [];
	#usedIds = new Set<string>();
	/** Where the last reply began: what is made again, how much of the transcript stands, and the ids that came after. */
	#open = { index: 0, length: 0, ids: [] as string[] };

	/** The transcript, in a list of its own. */
	repair(messages: readonly Message[], target: TranscriptTarget): Message[] {
		if (!this.#continues(messages, target)) this.#forget();
		for (const id of this.#open.ids.splice(0)) this.#usedIds.delete(id);
		this.#repaired.length = this.#open.length;
		for (let index = this.#open.index; index < messages.length; index++) this.#add(messages, index, target);
		this.#messages = messages;
		this.#target = target;
		return [...this.#repaired];
	}

	#continues(messages: readonly Message[], target: TranscriptTarget): boolean {
		if (target !== this.#target || messages.length < this.#open.index) return false;
		for (let index = 0; index < this.#open.index; index++) if (messages[index] !== this.#messages[index]) return false;
		return true;
	}

	#forget(): void {
		this.#usedIds.clear();
		this.#open = { index: 0, length: 0, ids: [] };
	}

	#add(messages: readonly Message[], index: number, target: TranscriptTarget): void {
		const repaired = this.#repaired;
		const message = messages[index]!;
		if (message.role === "toolResult") return;
		if (message.role !== "assistant") {
			const said = message.role === "user" ? dropBlanks(message) : message;
			if (said) repaired.push(said.role === "user" ? fitImages(said, target) : said);
			return;
		}
		this.#open = { index, length: repaired.length, ids: [] };
		const reply = repairReply(message, target);
		if (!reply) return;
		const before = repaired.at(-1);
		// Talk begins with a person and takes turns; where such a line is gone, something has to stand for it.
		if (!before || before.role === "assistant") {
			repaired.push({ role: "user", content: before ? GOES_ON : LOST_BEGINNING, timestamp: reply.timestamp });
		}
		const calls = reply.content.filter((block) => block.type === "toolCall");
		if (calls.length === 0) {
			repaired.push(reply);
			return;
		}
		const results = resultsAfter(messages, index);
		const ids = new Map(calls.map((call) => [call.id, this.#takeId(call.id)]));
		repaired.push(calls.every((call) => ids.get(call.id) === call.id) ? reply : renameCalls(reply, ids));
		for (const call of calls) {
			const result = results.get(call.id) ?? missingResult(call, reply);
			const names = { toolCallId: ids.get(call.id)!, toolName: call.name };
			repaired.push({ ...fitImages(shorten(result), target), ...names });
		}
	}

	/**
	 * Some servers number their calls anew in each reply or leave ids out; others refuse an id that the transcript had
	 * before, is long or has odd characters. In the ids of the Responses format (`<call>|<item>`) the first half is what
	 * has to be unique.
	 */
	#takeId(id: string | undefined): string {
		const [call = "", ...item] = (id ?? "").split("|");
		const base = call === "" || call === "undefined" ? "call" : call.replace(/[^\w.:-]/g, "_").slice(0, 64);
		let free = base;
		for (let n = 2; this.#usedIds.has(free); n++) free = `${base}_${n}`;
		this.#usedIds.add(free);
		this.#open.ids.push(free);
		return [free, ...item].join("|");
	}
}

function renameCalls(reply: AssistantMessage, ids: ReadonlyMap<string, string>): AssistantMessage {
	const content = reply.content.map((block) =>
		block.type === "toolCall" ? { ...block, id: ids.get(block.id)! } : block,
	);
	return { ...reply, content };
}

/** Most replies: plain text that ended well, and that no other model has signed. */
function isPlain({ content, stopReason, errorMessage, diagnostics }: AssistantMessage, sameModel: boolean): boolean {
	if (stopReason !== "stop" || errorMessage !== undefined || diagnostics !== undefined) return false;
	const isText = (block: AssistantMessage["content"][number]) =>
		block.type === "text" && /\S/.test(block.text) && (sameModel || block.textSignature === undefined);
	return content.length > 0 && content.every(isText);
}

function repairReply(message: AssistantMessage, target: TranscriptTarget): AssistantMessage | undefined {
	const broken = message.stopReason === "error" || message.stopReason === "aborted";
	const sameModel = message.api === target.api && message.provider === target.provider && message.model === target.id;
	if (isPlain(message, sameModel)) return message;
	const seen = new Set<string>();
	const content: AssistantMessage["content"] = [];
	for (const block of message.content) {
		if (block.type === "text") {
			// A signed text is a piece that the server may count on, blank or not.
			if (block.text === "" || (block.text.trim() === "" && !(sameModel && block.textSignature))) continue;
			content.push(sameModel ? block : { type: "text", text: block.text });
		} else if (block.type === "thinking") {
			if (sameModel && !broken && block.thinkingSignature) content.push(block);
		} else if (!broken && !seen.has(block.id)) {
			seen.add(block.id);
			const name = cleanToolName(block.name);
			const same = name === block.name ? block : { ...block, name };
			// A signature covers the arguments; what a server signed it has sent itself, so that it takes it back.
			if (sameModel && block.thoughtSignature) content.push(same);
			else
				content.push(
					shortenArguments(sameModel ? same : { type: "toolCall", id: block.id, name, arguments: block.arguments }),
				);
		}
	}
	if (!content.some((block) => block.type !== "thinking")) return undefined;
	const stopReason = content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
	const { errorMessage: _error, diagnostics: _diagnostics, ...rest } = message;
	return { ...rest, content, stopReason: message.stopReason === "length" ? "length" : stopReason };
}

/** What a person said without blank texts, or undefined when nothing is left: no server takes them. */
function dropBlanks(message: UserMessage): UserMessage | undefined {
	if (typeof message.content === "string") return message.content.trim() === "" ? undefined : message;
	const content = message.content.filter((block) => block.type !== "text" || block.text.trim() !== "");
	if (content.length === 0) return undefined;
	return content.length === message.content.length ? message : { ...message, content };
}

/** The first result for each call id between this reply and the next one. */
function resultsAfter(messages: readonly Message[], reply: number): Map<string, ToolResultMessage> {
	const results = new Map<string, ToolResultMessage>();
	for (let i = reply + 1; i < messages.length; i++) {
		const message = messages[i]!;
		if (message.role === "assistant") break;
		if (message.role === "toolResult" && !results.has(message.toolCallId)) results.set(message.toolCallId, message);
	}
	return results;
}

function missingResult(call: ToolCall, reply: AssistantMessage): ToolResultMessage {
	return {
		role: "toolResult",
		toolCallId: call.id,
		toolName: call.name,
		content: [{ type: "text", text: NO_RESULT }],
		isError: true,
		timestamp: reply.timestamp,
	};
}

/** A result that says something, but not more than a model can read. */
function shorten(result: ToolResultMessage): ToolResultMessage {
	const isBlank = result.content.every((block) => block.type === "text" && block.text.trim() === "");
	if (isBlank) return { ...result, content: [{ type: "text", text: NO_OUTPUT }] };
	if (!result.content.some((block) => block.type === "text" && block.text.length > TEXT_LIMIT)) return result;
	const content = result.content.map((block) =>
		block.type === "text" ? { ...block, text: cutMiddle(block.text, TEXT_LIMIT) } : block,
	);
	return { ...result, content };
}

/** A call whose arguments are the same JSON with no text that is longer than a model can read. */
function shortenArguments(call: ToolCall): ToolCall {
	return hasLongText(call.arguments) ? { ...call, arguments: shortenTexts(call.arguments) } : call;
}

/** Looks without copying: nearly no call has such a text, and every request looks at all of them. */
function hasLongText(value: unknown): boolean {
	if (typeof value === "string") return value.length > TEXT_LIMIT;
	if (typeof value !== "object" || value === null) return false;
	for (const key in value) if (hasLongText((value as Record<string, unknown>)[key])) return true;
	return false;
}

function shortenTexts<Value>(value: Value): Value {
	if (typeof value === "string") return cutMiddle(value, TEXT_LIMIT) as Value;
	if (Array.isArray(value)) return value.map(shortenTexts) as Value;
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortenTexts(inner)])) as Value;
}

function fitImages<M extends Message & { role: "user" | "toolResult" }>(message: M, target: TranscriptTarget): M {
	if (typeof message.content === "string" || target.input.includes("image")) return message;
	if (!message.content.some((block) => block.type === "image")) return message;
	const content = message.content.map((block) =>
		block.type === "image" ? { type: "text" as const, text: NO_IMAGE } : block,
	);
	return { ...message, content };
}
