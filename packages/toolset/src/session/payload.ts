import type { ModelFacts } from "../profiles/models.ts";

/** A part of a message; only what shaping needs of it. */
interface Part {
	type: string;
	text?: string;
	cache_control?: object;
}

interface Message {
	role: string;
	content: string | Part[];
}

interface AnthropicBody {
	system?: Part[];
	tools?: Part[];
	messages: Message[];
}

interface ResponsesBody {
	input: { role?: string; content?: unknown }[];
	instructions?: string;
	tools?: { type: string; strict?: boolean | null }[];
}

/** The limit of the provider. */
const mostMarkers = 4;

/** One user message for several in a row, always with a list of parts, so that a message never changes its form. */
function joinUserMessages(messages: readonly Message[]): Message[] {
	const joined: Message[] = [];
	for (const message of messages) {
		const { role, content } = message;
		if (role !== "user") {
			joined.push(message);
			continue;
		}
		const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
		const last = joined.at(-1);
		if (last?.role === "user") joined[joined.length - 1] = { role, content: [...last.content, ...parts] as Part[] };
		else joined.push({ ...message, content: parts });
	}
	return joined;
}

function findMarked(parts: readonly Part[]): Part[] {
	return parts.filter((part) => part.cache_control !== undefined);
}

function canBeMarked({ type, text }: Part): boolean {
	return type !== "thinking" && type !== "redacted_thinking" && (type !== "text" || text !== "");
}

/**
 * Marks the end of the user message before the last one as the library marks that of the last: the request before ended
 * there, and a server looks for what it holds only a few parts back from a marker.
 */
function markPreviousUser(body: AnthropicBody, messages: Message[]): Message[] {
	const all = messages.flatMap(({ content }) => content as Part[]);
	const markers = findMarked([...(body.system ?? []), ...(body.tools ?? []), ...all]).length;
	const lastAt = messages.findLastIndex(({ role }) => role === "user");
	const at = messages.findLastIndex(({ role }, index) => role === "user" && index < lastAt);
	const marker = findMarked((messages[lastAt]?.content ?? []) as Part[])[0]?.cache_control;
	if (at < 0 || marker === undefined || markers >= mostMarkers) return messages;
	const parts = messages[at]!.content as Part[];
	const end = parts.findLastIndex(canBeMarked);
	if (end < 0) return messages;
	return messages.with(at, { role: "user", content: parts.with(end, { ...parts[end]!, cache_control: marker }) });
}

function shapeAnthropic(body: AnthropicBody): AnthropicBody {
	return { ...body, messages: markPreviousUser(body, joinUserMessages(body.messages)) };
}

/**
 * Instructions in their own field, and parameters of tools optional where they are not said to be required, which the
 * server would not leave them. Nothing is stored there, so the reasoning of the models has to come along encrypted to be
 * sent back; the library asks for it only together with an effort.
 */
function shapeResponses(body: ResponsesBody, { reasoning }: ModelFacts): ResponsesBody {
	const [first, ...rest] = body.input;
	const isInstruction = first?.role === "developer" || first?.role === "system";
	return {
		...body,
		...(body.tools ? { tools: body.tools.map((tool) => ({ ...tool, strict: tool.strict ?? false })) } : {}),
		...(reasoning ? { include: ["reasoning.encrypted_content"] } : {}),
		...(isInstruction && typeof first.content === "string" ? { instructions: first.content, input: rest } : {}),
	};
}

/** The body of a request as it is sent; `undefined` where the library's form is right. */
export function shapePayload(payload: unknown, model: ModelFacts): unknown {
	if (model.api === "anthropic-messages") return shapeAnthropic(payload as AnthropicBody);
	return model.api === "openai-responses" ? shapeResponses(payload as ResponsesBody, model) : undefined;
}
