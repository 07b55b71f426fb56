import { type AgentLoopConfig, type DebugRecord, guardStream, type StreamFn, streamByApi } from "@prime-agent/loop";
import {
	type ModelServer,
	type RecordedRequest,
	type Step,
	startAnthropicServer,
	startGeminiServer,
	startResponsesServer,
} from "@prime-agent/testkit";
import { LocalEnvironment } from "../environment/local.ts";
import { findKeyVariable, openAccess } from "../profiles/access.ts";
import type { ProviderName } from "../profiles/models.ts";
import { findProfile } from "../profiles/profile.ts";
import type { RunEnd, SessionEvent } from "../session/events.ts";
import { CodingSession } from "../session/session.ts";
import type { SessionSettings } from "../session/settings.ts";
import { defineTool } from "../tools/tool.ts";
import { makeFolder, type TestFolder } from "./folder.ts";

/** Starts the strict mock of a provider. */
const startServer: Record<ProviderName, (options?: { contextWindow?: number }) => Promise<ModelServer>> = {
	anthropic: startAnthropicServer,
	openai: startResponsesServer,
	gemini: startGeminiServer,
};

/** A session whose requests go over loopback to the mock of its provider. */
export interface WireSession extends AsyncDisposable {
	folder: TestFolder;
	server: ModelServer;
	session: CodingSession;
	events: SessionEvent[];
	debug: DebugRecord[];
	run(text?: string): Promise<RunEnd>;
	/** The parsed body of a request. */
	// biome-ignore lint/suspicious/noExplicitAny: tests read any shape out of it
	body(index: number): any;
}

/** How a wire session is opened. */
export interface WireOptions {
	model?: string;
	settings?: Partial<SessionSettings>;
	variables?: Record<string, string>;
	/** Put around the stream of the session. */
	around?: (inner: StreamFn) => StreamFn;
	/** Sent with every request. */
	headers?: Record<string, string>;
	/** Added to the options of every request. */
	request?: Partial<AgentLoopConfig>;
	limits?: { firstByteMs?: number; idleMs?: number };
	/** Another address than the mock's. */
	url?: string;
	/** Answers of the tool `echo` by call; throws for the text "fail". */
	onEcho?: (text: string) => void;
	contextWindow?: number;
}

/** Opens a session with a harmless tool `echo` beside the profile's own. */
export async function openWire(provider: ProviderName, steps: Step[], options: WireOptions = {}): Promise<WireSession> {
	const folder = await makeFolder();
	const { contextWindow } = options;
	const server = await startServer[provider](contextWindow === undefined ? {} : { contextWindow });
	server.script(...steps);
	const events: SessionEvent[] = [];
	const debug: DebugRecord[] = [];
	const echo = defineTool<{ text: string }>({
		name: "echo",
		label: "echo",
		toolClass: "read",
		description: "Says it again.",
		properties: { text: { type: "string" } },
		required: ["text"],
		describeCall: () => "",
		async run({ text }) {
			options.onEcho?.(text);
			if (text === "fail") throw new Error("failed on request");
			return { text: `echo ${text}` };
		},
	});
	const streamFn: StreamFn = (model, context, request) =>
		streamByApi(model, context, { ...request, ...options.request });
	const access = openAccess(provider, options.model, {
		[findKeyVariable(provider)]: "test-key-0123456789",
		[`${provider.toUpperCase()}_BASE_URL`]: options.url ?? server.url,
		...options.variables,
	});
	const guarded = guardStream({
		streamFn,
		allowEmptyReply: true,
		debug: (record) => debug.push(record),
		...options.limits,
	});
	const session = await CodingSession.open({
		profile: findProfile(provider),
		access: { ...access, headers: { ...access.headers, ...options.headers } },
		environment: new LocalEnvironment({ workingDirectory: folder.path, variables: { PATH: process.env.PATH } }),
		streamFn: (options.around ?? ((inner) => inner))(guarded),
		tools: [echo],
		settings: { retryBaseMs: 1, ...options.settings },
		listener: (event) => events.push(event),
	});
	return {
		folder,
		server,
		session,
		events,
		debug,
		run: (text = "go") => session.submit(text),
		body: (index) => (server.modelRequests[index] as RecordedRequest).body,
		async [Symbol.asyncDispose]() {
			await session.close();
			await server.close();
			await folder[Symbol.asyncDispose]();
		},
	};
}

/** A call of the tool `echo`. */
export function echo(text: string, id?: string) {
	return { name: "echo", arguments: { text }, ...(id === undefined ? {} : { id }) };
}

/** The body of a skipped test, for what the model library does not give. */
export function notGiven(): never {
	throw new Error("The model library does not give this.");
}
