import type { Api, Model } from "@earendil-works/pi-ai";
import { guardStream, type StreamFn, type StreamLimits, type ThinkingLevel } from "@prime-agent/loop";
import { Credentials } from "./auth/credentials.ts";
import { UsageError } from "./cli/errors.ts";
import type { ModelRow, Program, SessionRequest } from "./cli/program.ts";
import { composeSession, type ModelName } from "./compose.ts";
import { ignore } from "./lib/ignore.ts";
import { ModelRegistry } from "./models/registry.ts";
import { ModelError, selectModel } from "./models/selection.ts";
import { createStream, loadStreams } from "./models/stream.ts";
import { agentFolder, type Environment } from "./platform/paths.ts";
import type { SessionPort } from "./protocol/session-port.ts";

/** Puts together what the commands need: credentials, models and sessions of this process. */
export function createProgram(env: Environment, version: string): Program {
	return {
		openSession: (request, note) =>
			request.isDemo ? openDemo(request, env, note) : openSession(request, env, version, note),
		listModels: () => listModels(env),
	};
}

/** Takes a line that a person should read. */
type Note = (line: string) => void;

function openSession(request: SessionRequest, env: Environment, version: string, note: Note): Promise<SessionPort> {
	const { apiKey } = request;
	if (apiKey !== undefined && request.model === undefined && request.provider === undefined) {
		return Promise.reject(
			new UsageError("--api-key requires a model to be specified via --model or --provider/--model."),
		);
	}
	const { keys, registry } = openModels(env);
	for (const warning of warningsOf(keys, registry)) note(warning);
	const chooseModel = async (last: ModelName | undefined): Promise<Model<Api>> => {
		const { model, note: reason } = await chooseFor(request, registry, last);
		if (apiKey !== undefined) keys.setRuntimeKey(model.provider, apiKey);
		if (reason) note(reason);
		// The first request is near: what it needs is loaded while the session is built.
		loadStreams(model).catch((error: unknown) => ignore(error, "the request itself reports it"));
		return model;
	};
	const limits = readLimits(request.settings.get("retry.provider.timeoutMs"));
	const guard = (streamFn: StreamFn): StreamFn => guardStream({ streamFn, ...limits });
	const streamFn = createStream({ registry, env, userAgent: `prime-agent/${version}`, guard });
	return compose(request, env, chooseModel, streamFn);
}

/** How long a server may send nothing, and twice as long nothing but signs of life; 0 is without limit. */
function readLimits(timeoutMs: unknown): Partial<StreamLimits> {
	if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) return {};
	return { firstByteMs: timeoutMs, idleMs: timeoutMs, progressMs: 2 * timeoutMs };
}

async function openDemo(request: SessionRequest, env: Environment, note: Note): Promise<SessionPort> {
	const { createDemo } = await import("./models/demo.ts");
	const demo = createDemo();
	note(demo.label);
	return compose(request, env, async () => demo.model, demo.stream);
}

function compose(
	request: SessionRequest,
	env: Environment,
	chooseModel: (last: ModelName | undefined) => Promise<Model<Api>>,
	streamFn: StreamFn,
): Promise<SessionPort> {
	const agentDir = agentFolder(env);
	const thinkingLevel = request.thinking ?? request.settings.defaultThinkingLevel;
	return composeSession({
		cwd: request.cwd,
		agentDir,
		session: request.session,
		chooseModel,
		streamFn,
		appendSystemPrompt: request.appendSystemPrompt,
		contextFiles: request.contextFiles,
		tools: request.tools,
		kernel: { env, settings: request.settings.kernel },
		setting: (path) => request.settings.get(path),
		...(request.systemPrompt === undefined ? {} : { systemPrompt: request.systemPrompt }),
		...(thinkingLevel === undefined ? {} : { thinkingLevel: thinkingLevel as ThinkingLevel }),
	});
}

async function chooseFor(request: SessionRequest, registry: ModelRegistry, last: ModelName | undefined) {
	const { defaultProvider, defaultModel } = request.settings;
	try {
		return await selectModel(registry, {
			isKeyGiven: request.apiKey !== undefined,
			named: { provider: request.provider, id: request.model },
			settings: { provider: defaultProvider, id: defaultModel },
			last,
		});
	} catch (error) {
		if (!(error instanceof ModelError) || error.code !== "no_model") throw error;
		const { describeLocalServer, findLocalServers } = await import("./models/local-servers.ts");
		const servers = (await findLocalServers()).map(describeLocalServer);
		throw new ModelError("no_model", [error.message, ...servers].join("\n"));
	}
}

async function listModels(env: Environment): ReturnType<Program["listModels"]> {
	const { keys, registry } = openModels(env);
	const rows: ModelRow[] = [];
	for (const provider of registry.providers()) {
		const status = await registry.status(provider);
		if (!status || status.source === "stale") continue;
		for (const model of Object.values(await registry.models(provider))) {
			const { id, name, contextWindow, maxTokens, reasoning, input } = model;
			const from = { source: status.source, sourceLabel: status.label };
			rows.push({ provider, id, name, contextWindow, maxTokens, reasoning, input, ...from });
		}
	}
	const { NO_MODELS } = await import("./models/selection.ts");
	return { rows, notes: [...warningsOf(keys, registry), ...(rows.length === 0 ? [NO_MODELS] : [])] };
}

function openModels(env: Environment): { keys: Credentials; registry: ModelRegistry } {
	const folder = agentFolder(env);
	const keys = new Credentials({ agentFolder: folder, env });
	return { keys, registry: ModelRegistry.open({ agentFolder: folder, env, keys }) };
}

function warningsOf(keys: Credentials, registry: ModelRegistry): string[] {
	return [...keys.warnings(), ...registry.warnings].map((warning) => `Warning: ${warning}`);
}
