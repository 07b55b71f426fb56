/** What a request says about calls, in the order in which it says it. */
interface CallStep {
	readonly kind: "call" | "result" | "other";
	readonly id: string;
}

type Body = Readonly<Record<string, unknown>>;

/** One wire format as far as a foreign client is held to it: calls and results, order of speakers, schemas of tools. */
interface Strictness {
	readonly fields: readonly string[];
	readonly steps: (body: Body) => CallStep[];
	/** Speakers in order, where the format knows them. */
	readonly speakers: (body: Body) => string[];
	readonly allowed: readonly string[];
	readonly schemas: (body: Body) => unknown[];
}

const FORMATS: Readonly<Record<string, Strictness>> = {
	responses: {
		fields: [
			...["model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "store"],
			...["stream", "include", "prompt_cache_key", "text", "service_tier", "max_output_tokens", "temperature"],
		],
		steps: (body) =>
			list(body.input).map((item) => {
				const type = String(item.type);
				const kind = type.endsWith("_call_output") ? "result" : type.endsWith("_call") ? "call" : "other";
				return { kind, id: String(item.call_id ?? "") };
			}),
		speakers: (body) => list(body.input).flatMap((item) => (item.role === undefined ? [] : [String(item.role)])),
		allowed: ["system", "developer", "user", "assistant"],
		schemas: (body) => list(body.tools).flatMap((tool) => (tool.type === "function" ? [tool.parameters] : [])),
	},
	messages: {
		fields: [
			...["model", "messages", "system", "tools", "tool_choice", "max_tokens", "metadata", "stream", "temperature"],
			...["thinking", "stop_sequences", "top_p", "top_k", "context_management", "output_config"],
		],
		steps: (body) =>
			list(body.messages).flatMap((message) =>
				list(message.content).map((part): CallStep => {
					if (part.type === "tool_use") return { kind: "call", id: String(part.id) };
					if (part.type === "tool_result") return { kind: "result", id: String(part.tool_use_id) };
					return { kind: "other", id: "" };
				}),
			),
		speakers: (body) => list(body.messages).map((message) => String(message.role)),
		// Claude Code 2.1.332 puts notes of its own between the messages.
		allowed: ["system", "user", "assistant"],
		schemas: (body) => list(body.tools).flatMap((tool) => (tool.type === undefined ? [tool.input_schema] : [])),
	},
	completions: {
		fields: [
			...["model", "messages", "tools", "tool_choice", "max_tokens", "max_completion_tokens", "stream", "temperature"],
			...["stream_options", "reasoning_effort", "store", "top_p", "parallel_tool_calls", "response_format"],
		],
		steps: (body) =>
			list(body.messages).flatMap((message): CallStep[] => {
				if (message.role === "tool") return [{ kind: "result", id: String(message.tool_call_id) }];
				const calls = list(message.tool_calls).map((call): CallStep => ({ kind: "call", id: String(call.id) }));
				return calls.length > 0 ? calls : [{ kind: "other", id: "" }];
			}),
		speakers: (body) => list(body.messages).map((message) => String(message.role)),
		allowed: ["system", "developer", "user", "assistant", "tool"],
		schemas: (body) => list(body.tools).map((tool) => (tool.function as Body | undefined)?.parameters),
	},
	streamGenerateContent: {
		fields: [
			"contents",
			"systemInstruction",
			"tools",
			"toolConfig",
			"generationConfig",
			"safetySettings",
			"cachedContent",
		],
		steps: (body) =>
			list(body.contents).flatMap((content) =>
				list(content.parts).map((part): CallStep => {
					// Without ids the calls of one message are answered in their order, by name.
					if (part.functionCall !== undefined) return { kind: "call", id: nameOf(part.functionCall) };
					if (part.functionResponse !== undefined) return { kind: "result", id: nameOf(part.functionResponse) };
					return { kind: "other", id: "" };
				}),
			),
		speakers: (body) => list(body.contents).map((content) => String(content.role)),
		allowed: ["user", "model"],
		schemas: (body) =>
			list(body.tools).flatMap((tool) =>
				list(tool.functionDeclarations).map(
					(each) => each.parametersJsonSchema ?? each.parameters ?? { type: "object" },
				),
			),
	},
};

/** What a foreign client's request breaks that every real server of its format insists on. */
export function findFaults(path: string, body: Body): string[] {
	const format = formatOf(path);
	if (format === undefined) return [];
	return [...findPairing(format.steps(body)), ...findOrder(format, body), ...findSchemas(format, body)];
}

/** Top-level fields that this project's own clients never send. */
export function findUnknownFields(path: string, body: Body): string[] {
	return Object.keys(body).filter((field) => !(formatOf(path)?.fields.includes(field) ?? true));
}

function findPairing(steps: readonly CallStep[]): string[] {
	const faults: string[] = [];
	const open: string[] = [];
	for (const { kind, id } of steps) {
		if (kind === "call") open.push(id);
		else if (kind === "result" && open.includes(id)) open.splice(open.indexOf(id), 1);
		else if (kind === "result") faults.push(`result ${id} without a call before it`);
	}
	return [...faults, ...open.map((id) => `call ${id} without a result`)];
}

function findOrder(format: Strictness, body: Body): string[] {
	const speakers = format.speakers(body);
	const strangers = speakers.filter((speaker) => !format.allowed.includes(speaker));
	const first = speakers.find((speaker) => speaker !== "system" && speaker !== "developer");
	const faults = strangers.map((speaker) => `unknown speaker ${speaker}`);
	return first === undefined || first === "user" ? faults : [...faults, `the conversation begins with ${first}`];
}

function findSchemas(format: Strictness, body: Body): string[] {
	return format.schemas(body).flatMap((schema) => {
		const type = typeof schema === "object" && schema !== null ? (schema as Body).type : undefined;
		return typeof type === "string" && type.toLowerCase() === "object" ? [] : [`a tool without an object schema`];
	});
}

function formatOf(path: string): Strictness | undefined {
	return FORMATS[/[/:](\w+)$/.exec(path)?.[1] ?? ""];
}

function list(value: unknown): Body[] {
	return Array.isArray(value) ? value.filter((each): each is Body => typeof each === "object" && each !== null) : [];
}

function nameOf(call: unknown): string {
	const { id, name } = call as { id?: unknown; name?: unknown };
	return String(id ?? name);
}
