/** Bytes of an answer that are kept to explain it, for instance an error page. */
const keptHead = 64 * 1024;

/** Characters of one event that are looked into; longer ones only count as progress. */
const longestEvent = 4 * 1024 * 1024;

/** An error that a server sent inside an answer that had begun well. */
export interface StreamError {
	/** The HTTP status it names, where it does. */
	status?: number;
	/** The JSON it sent. */
	text: string;
}

/** Where a wire format says that a reply is complete; formats that are not here are not checked. */
const endings: Record<string, RegExp> = {
	"openai-completions": /"finish_reason"\s*:\s*"|^\[DONE\]/,
	"mistral-conversations": /"finish_reason"\s*:\s*"|^\[DONE\]/,
	"openai-responses": /"type"\s*:\s*"response\.(?:completed|incomplete|failed|done)"/,
	"azure-openai-responses": /"type"\s*:\s*"response\.(?:completed|incomplete|failed|done)"/,
	"openai-codex-responses": /"type"\s*:\s*"response\.(?:completed|incomplete|failed|done)"/,
	"anthropic-messages": /"stop_reason"\s*:\s*"|"type"\s*:\s*"message_stop"/,
	"google-generative-ai": /"finishReason"\s*:\s*"/,
	"google-vertex": /"finishReason"\s*:\s*"/,
};

/** After what a wire format has nothing more to say. */
const lasts: Record<string, RegExp> = {
	"openai-completions": /^\[DONE\]/,
	"mistral-conversations": /^\[DONE\]/,
	"openai-responses": endings["openai-responses"]!,
	"azure-openai-responses": endings["azure-openai-responses"]!,
	"openai-codex-responses": endings["openai-codex-responses"]!,
	"anthropic-messages": /"type"\s*:\s*"message_stop"/,
};

/** Where a wire format says that the text of a reply is a refusal; the other formats say it in their stop reason. */
const refusals: Record<string, RegExp> = {
	"openai-completions": /"refusal"\s*:\s*"[^"]/,
	"openai-responses": /"refusal"\s*:\s*"[^"]/,
	"azure-openai-responses": /"refusal"\s*:\s*"[^"]/,
	"openai-codex-responses": /"refusal"\s*:\s*"[^"]/,
};

/** Where a wire format says that it does not answer this prompt at all, with the reason. */
const blocks: Record<string, RegExp> = {
	"google-generative-ai": /"promptFeedback"\s*:\s*\{[^{}]*"blockReason"\s*:\s*"([^"]+)"/,
	"google-vertex": /"promptFeedback"\s*:\s*\{[^{}]*"blockReason"\s*:\s*"([^"]+)"/,
};

/** Reads along with the body of one answer. */
export interface BodyScanner {
	/** Takes the next bytes and says whether they moved the answer on; comments and pings do not. */
	push(bytes: Uint8Array): boolean;
	/** The body is over. */
	end(): void;
	/** The first 64 KB as text. */
	readonly head: string;
	/** The first error that the stream reported. */
	readonly error: StreamError | undefined;
	/** `false` only when the format marks its end, the body is an event stream, and no mark came. */
	readonly isComplete: boolean;
	/** The format has said its last word; nothing that comes now belongs to the reply. */
	readonly isOver: boolean;
	/** The format marks the reply as a refusal. */
	readonly isRefusal: boolean;
	/** Why the prompt was not answered at all, in the server's word. */
	readonly blockReason: string | undefined;
}

/** A scanner for an answer of this content type in the wire format `api`; `onLine` gets each line of an event stream. */
export function scanBody(contentType: string, api: string, onLine?: (line: string) => void): BodyScanner {
	const isOpaque = /json|html|xml|octet-stream|amazon/i.test(contentType);
	const decoder = new TextDecoder();
	const ending = isOpaque ? undefined : endings[api];
	let head = "";
	let pieces: string[] = [];
	let heldReturn = "";
	let eventName = "";
	let data: string[] = [];
	let error: StreamError | undefined;
	const refusal = isOpaque ? undefined : refusals[api];
	const block = isOpaque ? undefined : blocks[api];
	let blockReason: string | undefined;
	const last = isOpaque ? undefined : lasts[api];
	let isEnded = false;
	let isOver = false;
	let isRefusal = false;

	const closeEvent = (): boolean => {
		const payload = data.join("\n");
		const name = eventName;
		data = [];
		eventName = "";
		if (payload === "" || name === "ping" || /^\s*\{\s*"type"\s*:\s*"ping"/.test(payload)) return false;
		if (payload.length > longestEvent) return true;
		if (ending?.test(payload)) isEnded = true;
		if (last?.test(payload)) isOver = true;
		if (refusal?.test(payload)) isRefusal = true;
		blockReason ??= block?.exec(payload)?.[1];
		if (!error && (name === "error" || /"error"|"response\.failed"/.test(payload))) {
			error = readError(payload, name === "error");
		}
		return true;
	};
	const takeLine = (text: string): boolean => {
		if (text === "") return closeEvent();
		onLine?.(text);
		if (text.startsWith("event:")) eventName = text.slice(6).trim();
		if (text.startsWith("data:")) data.push(text.slice(5).trim());
		return false;
	};
	const take = (text: string): boolean => {
		if (head.length < keptHead) head += text.slice(0, keptHead - head.length);
		if (isOpaque) return text !== "";
		// A CR at the end of a chunk may be half of a CR LF.
		let rest = heldReturn + text;
		heldReturn = rest.endsWith("\r") ? "\r" : "";
		if (heldReturn) rest = rest.slice(0, -1);
		let moved = false;
		for (const [index, piece] of rest.split(/\r\n|\n|\r/).entries()) {
			if (index > 0) {
				moved = takeLine(pieces.join("")) || moved;
				pieces = [];
			}
			pieces.push(piece);
		}
		return moved;
	};
	return {
		push: (bytes) => take(decoder.decode(bytes, { stream: true })),
		end() {
			take(decoder.decode());
			takeLine(pieces.join(""));
			pieces = [];
			closeEvent();
		},
		get head() {
			return head;
		},
		get error() {
			return error;
		},
		get isComplete() {
			return !ending || isEnded;
		},
		get isOver() {
			return isOver;
		},
		get isRefusal() {
			return isRefusal;
		},
		get blockReason() {
			return blockReason;
		},
	};
}

/** What the JSON text of an answer says about an error, or `undefined` when it is no error. */
export function readError(text: string, isSurelyError = false): StreamError | undefined {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		// Not JSON: then only its place can say that it is an error.
		return isSurelyError ? { text } : undefined;
	}
	const found = findError(value) ?? (isSurelyError ? value : undefined);
	if (found === undefined) return undefined;
	const status = findStatus(found);
	return {
		...(status === undefined ? {} : { status }),
		text: typeof found === "string" ? found : JSON.stringify(found),
	};
}

function findError(value: unknown): unknown {
	if (Array.isArray(value)) return findError(value[0]);
	if (!isObject(value)) return undefined;
	if (value.type === "response.failed" && isObject(value.response)) return value.response.error ?? value;
	if (value.error) return value.error;
	return value.type === "error" || value.object === "error" ? value : undefined;
}

function findStatus(error: unknown): number | undefined {
	if (!isObject(error)) return undefined;
	const numbers = [error.status, error.code, error.status_code].map(Number);
	return numbers.find((number) => Number.isInteger(number) && number >= 400 && number < 600);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
