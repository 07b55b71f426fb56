import type { Api, Model } from "@earendil-works/pi-ai";
import { guardStream, loadAdapter, type StreamLimits, type ThinkingLevel, wireFormats } from "@prime-agent/loop";
import { Credentials } from "./auth/credentials.ts";
import { UsageError } from "./cli/errors.ts";
import type { ModelRow, Program, SessionRequest } from "./cli/program.ts";
import { type ComposeOptions, composeSession, offersCells } from "./compose.ts";
import { type Diary, openDiary } from "./diary.ts";
import { dropPrestarted, prestartKernel } from "./kernel/index.ts";
import { suggest } from "./lib/edit-distance.ts";
import { ignore } from "./lib/ignore.ts";
import { ModelRegistry } from "./models/registry.ts";
import { describeLack, ModelError, type ModelName, selectModel } from "./models/selection.ts";
import { createStream, loadStreams } from "./models/stream.ts";
import { agentFolder, type Environment } from "./platform/paths.ts";
import type { SessionPort } from "./protocol/session-port.ts";
import type { Settings } from "./settings/settings.ts";

/** What every part of the program is given. */
interface Place {
	readonly env: Environment;
	readonly version: string;
	readonly diary: Diary;
}

/** Puts together what the commands need: credentials, models, sessions and the log of this process. */
export function createProgram(env: Environment, version: string): Program {
	const diary = openDiary(env);
	const place: Place = { env, version, diary };
	return {
		openSession: async (request, note) => {
			prestart(request, env);
			try {
				return await (request.isDemo ? openDemo(request, place, note) : openSession(request, place, note));
			} catch (error) {
				await dropPrestarted();
				throw error;
			}
		},
		listModels: (settings) => listModels(place, settings),
		inspectKernel: async (settings, cwd, signal) => {
			const { inspectKernel } = await import("./kernel/status.ts");
			return inspectKernel({ settings: settings.kernel, cwd, env, signal });
		},
		installKernel: async ({ settings, ...rest }) => {
			const { installKernel } = await import("./kernel/install.ts");
			return installKernel({ ...rest, settings: settings.kernel, env });
		},
		recordFault: (during, error) => diary.recordFault(during, error),
		faultFile: () => diary.faultFile(),
	};
}

/** A kernel that takes long to start does so from here on. */
function prestart({ cwd, tools, settings }: SessionRequest, env: Environment): void {
	if (offersCells(tools)) prestartKernel({ cwd, env, settings: settings.kernel });
}

/** Takes a line that a person should read. */
type Note = (line: string) => void;

function openSession(request: SessionRequest, place: Place, note: Note): Promise<SessionPort> {
	const { env, version } = place;
	const { apiKey } = request;
	if (apiKey !== undefined && request.model === undefined && request.provider === undefined) {
		return Promise.reject(
			new UsageError("--api-key requires a model to be specified via --model or --provider/--model."),
		);
	}
	const { keys, registry } = openModels(place);
	for (const warning of warningsOf(keys, registry)) note(warning);
	const chooseModel = async (last: ModelName | undefined): Promise<Model<Api>> => {
		const { model, note: reason } = await chooseFor(request, registry, last);
		if (apiKey !== undefined) keys.setRuntimeKey(model.provider, apiKey);
		if (reason) note(reason);
		await noteThinking(request, model, note);
		// The first request is near: what it needs is loaded while the session is built.
		loadStreams(model, loadAdapter).catch((error: unknown) => ignore(error, "the request itself reports it"));
		return model;
	};
	const limits = readLimits(request.settings.get("retry.provider.timeoutMs"));
	const streamFn = createStream({
		registry,
		env,
		userAgent: `prime-agent/${version}`,
		loadAdapter,
		guard: (send, amend) => guardStream({ streamFn: send, ...limits, amend }),
	});
	return compose(request, place, { chooseModel, streamFn, auth: keys });
}

/** A level that the model cannot follow costs nobody a run, but it is not passed over in silence. */
async function noteThinking({ thinking }: SessionRequest, model: Model<Api>, note: Note): Promise<void> {
	if (thinking === undefined) return;
	const { describeThinking } = await import("./models/thinking.ts");
	const lack = await describeThinking(model, thinking as ThinkingLevel);
	if (lack !== undefined) note(lack);
}

/** How long a server may send nothing, and twice as long nothing but signs of life; 0 is without limit. */
function readLimits(timeoutMs: unknown): Partial<StreamLimits> {
	if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) return {};
	return { firstByteMs: timeoutMs, idleMs: timeoutMs, progressMs: 2 * timeoutMs };
}

async function openDemo(request: SessionRequest, place: Place, note: Note): Promise<SessionPort> {
	const { createDemo } = await import("./models/demo.ts");
	const demo = createDemo();
	note(demo.label);
	return compose(request, place, { chooseModel: async () => demo.model, streamFn: demo.stream });
}

function compose(
	request: SessionRequest,
	{ env, diary }: Place,
	models: Pick<ComposeOptions, "chooseModel" | "streamFn" | "auth">,
): Promise<SessionPort> {
	const agentDir = agentFolder(env);
	const thinkingLevel = request.thinking ?? request.settings.defaultThinkingLevel;
	return composeSession({
		cwd: request.cwd,
		agentDir,
		session: request.session,
		...models,
		onFault: (feature, during, error) => diary.recordFault(`${feature}: ${during}`, error),
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

async function listModels(place: Place, settings: Settings): ReturnType<Program["listModels"]> {
	const { keys, registry } = openModels(place);
	const preset = await findPreset(registry, settings);
	const rows: ModelRow[] = [];
	for (const provider of registry.providers()) {
		const status = await registry.status(provider);
		if (!status || status.source === "stale") continue;
		for (const model of Object.values(await registry.models(provider))) {
			const { id, name, contextWindow, maxTokens, reasoning, input } = model;
			const from = { source: status.source, sourceLabel: status.label };
			const isDefault = provider === preset?.provider && id === preset.id;
			rows.push({ provider, id, name, contextWindow, maxTokens, reasoning, input, isDefault, ...from });
		}
	}
	return { rows, notes: [...warningsOf(keys, registry), ...(rows.length === 0 ? [describeLack(registry)] : [])] };
}

/** The model of a run that names none; undefined where such a run would say what to do first. */
async function findPreset(registry: ModelRegistry, settings: Settings): Promise<Model<Api> | undefined> {
	const { defaultProvider: provider, defaultModel: id } = settings;
	try {
		return (await selectModel(registry, { settings: { provider, id } })).model;
	} catch (error) {
		if (error instanceof ModelError) return undefined;
		throw error;
	}
}

function openModels({ env, diary }: Place): { keys: Credentials; registry: ModelRegistry } {
	const folder = agentFolder(env);
	const keys = new Credentials({ agentFolder: folder, env, onKey: diary.learn });
	return { keys, registry: ModelRegistry.open({ agentFolder: folder, env, keys, wireFormats }) };
}

function warningsOf(keys: Credentials, registry: ModelRegistry): string[] {
	const names = registry.providers();
	// Other names may belong to services that are no models; one that is nearly a provider's is a slip.
	const slips = keys.stored().flatMap((id) => {
		const hint = registry.isNamed(id) ? "" : suggest(id, names).trimEnd();
		return hint === "" ? [] : [`auth.json: there is no provider "${id}". ${hint}`];
	});
	return [...keys.warnings(), ...registry.warnings, ...slips].map((warning) => `Warning: ${warning}`);
}
