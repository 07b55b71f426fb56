import type { Api, Model } from "@earendil-works/pi-ai";
import { isJsonObject } from "../lib/json.ts";
import { describeUnknown } from "../lib/unknown-keys.ts";
import { readJsonFile } from "../platform/json-file.ts";
import { findAddressFault } from "./address.ts";

/** What `models.json` says about one provider; values of `apiKey` and `headers` are as configured. */
export interface ProviderSettings {
	readonly baseUrl?: string;
	readonly api?: Api;
	readonly apiKey?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** Send the key as `Authorization: Bearer`, whatever the api would do. */
	readonly authHeader: boolean;
	readonly compat?: Readonly<Record<string, unknown>>;
	/** Models beside the provider's own; the same id replaces. */
	readonly models?: readonly ModelSettings[];
	/** Fields that replace those of known models, by model id. */
	readonly modelOverrides: Readonly<Record<string, Partial<ModelSettings>>>;
}

/** One model of `models.json`; what is left out has the defaults of `completeModel`. */
export type ModelSettings = Partial<Omit<Model<Api>, "id" | "provider">> & { readonly id: string };

/** The readable providers of a file by id, and what is wrong with the rest. */
export interface ModelsFile {
	readonly providers: ReadonlyMap<string, ProviderSettings>;
	/** Providers whose entry is wrong, and why: using them without it could ask another server than the one meant. */
	readonly refused: ReadonlyMap<string, string>;
	readonly warnings: readonly string[];
}

/** What the reading goes by. */
export interface ModelsFileRules {
	/** Whether a provider has models of its own; those of the file may then leave out their address and api. */
	readonly isKnown: (provider: string) => boolean;
	readonly wireFormats: readonly string[];
}

/** Reads `models.json`. Never throws; one wrong provider hides no other. */
export function readModelsFile(path: string, { isKnown, wireFormats }: ModelsFileRules): ModelsFile {
	const providers = new Map<string, ProviderSettings>();
	const refused = new Map<string, string>();
	const nothing = (why: string) => ({ providers, refused, warnings: [`${path} is not used: ${why}.`] });
	const file = readJsonFile(path);
	if (file.kind === "missing") return { providers, refused, warnings: [] };
	if (file.kind === "broken") return nothing(file.reason);
	if (!isJsonObject(file.value)) return nothing("it is not a JSON object");
	const entries = file.value.providers ?? {};
	if (!isJsonObject(entries)) return nothing('"providers" is not an object');

	const warnings = describeUnknown(Object.keys(file.value), ["providers"]).map((fault) => `${path}: ${fault}`);
	for (const [id, entry] of Object.entries(entries)) {
		const place = `${path}: provider "${id}"`;
		try {
			const settings = readProvider(entry, wireFormats);
			if (!isKnown(id)) checkWhole(id, settings);
			providers.set(id, settings);
		} catch (error) {
			const why = `${place} is not used: ${(error as Error).message}.`;
			refused.set(id, why);
			warnings.push(why);
		}
		warnings.push(...listUnknown(entry).map((fault) => `${place}: ${fault}`));
	}
	return { providers, refused, warnings };
}

const PROVIDER_KEYS = [
	"name",
	"baseUrl",
	"api",
	"apiKey",
	"headers",
	"authHeader",
	"compat",
	"models",
	"modelOverrides",
];

/** The keys of an entry that mean nothing. */
function listUnknown(entry: unknown): string[] {
	if (!isJsonObject(entry)) return [];
	const { models, modelOverrides } = entry;
	const written = Array.isArray(models) ? models.filter(isJsonObject).map((model) => [model.id, model] as const) : [];
	const overrides = isJsonObject(modelOverrides) ? Object.entries(modelOverrides) : [];
	return [
		...describeUnknown(Object.keys(entry), PROVIDER_KEYS),
		...[...written, ...overrides].flatMap(([id, model]) => {
			if (!isJsonObject(model)) return [];
			return describeUnknown(Object.keys(model), MODEL_KEYS).map((fault) => `model "${id}": ${fault}`);
		}),
	];
}

/** Throws where a provider that is not built in says too little to be asked for anything. */
function checkWhole(id: string, settings: ProviderSettings): void {
	const { models = [] } = settings;
	for (const model of models) completeModel(id, settings, model);
	if (models.length > 0) return;
	const missing = (["baseUrl", "api"] as const).filter((key) => settings[key] === undefined);
	const names = [...missing, "models"].map((key) => `"${key}"`).join(", ");
	throw new Error(`it is not built in, so its entry needs ${names}`);
}

/** The model that a line of `models.json` describes; throws where it has no address or no api. */
export function completeModel(provider: string, settings: ProviderSettings, model: ModelSettings): Model<Api> {
	const api = model.api ?? settings.api;
	const baseUrl = model.baseUrl ?? settings.baseUrl;
	if (!api) throw new Error(`model "${model.id}" has no "api"`);
	if (!baseUrl) throw new Error(`model "${model.id}" has no "baseUrl"`);
	const compat = { ...settings.compat, ...model.compat };
	return {
		name: model.id,
		reasoning: false,
		input: ["text"],
		contextWindow: 128_000,
		maxTokens: 16_384,
		...model,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...model.cost },
		...(Object.keys(compat).length > 0 ? { compat } : {}),
		api,
		baseUrl,
		provider,
	} as Model<Api>;
}

function readProvider(entry: unknown, wireFormats: readonly string[]): ProviderSettings {
	if (!isJsonObject(entry)) throw new Error("it is not an object");
	const baseUrl = readText(entry, "baseUrl");
	checkAddress(baseUrl, '"baseUrl"');
	const api = readText(entry, "api");
	checkApi(api, wireFormats);
	const apiKey = readText(entry, "apiKey");
	return {
		...(baseUrl === undefined ? {} : { baseUrl }),
		...(api === undefined ? {} : { api }),
		...(apiKey === undefined ? {} : { apiKey }),
		...(entry.headers === undefined ? {} : { headers: readHeaders(entry.headers) }),
		...(entry.compat === undefined ? {} : { compat: readObject(entry, "compat") }),
		...(entry.models === undefined ? {} : { models: readModels(entry.models, wireFormats) }),
		authHeader: entry.authHeader === true,
		modelOverrides:
			entry.modelOverrides === undefined ? {} : readOverrides(readObject(entry, "modelOverrides"), wireFormats),
	};
}

function readText(entry: Record<string, unknown>, key: string): string | undefined {
	const value = entry[key];
	if (value === undefined || (typeof value === "string" && value !== "")) return value as string | undefined;
	throw new Error(`"${key}" is not a text`);
}

function readObject(entry: Record<string, unknown>, key: string): Record<string, unknown> {
	const value = entry[key];
	if (isJsonObject(value)) return value;
	throw new Error(`"${key}" is not an object`);
}

function readHeaders(value: unknown): Record<string, string> {
	if (isJsonObject(value) && Object.values(value).every((text) => typeof text === "string")) {
		return value as Record<string, string>;
	}
	throw new Error('"headers" is not an object of texts');
}

function checkApi(api: unknown, wireFormats: readonly string[]): void {
	if (api === undefined || wireFormats.some((known) => known === api)) return;
	throw new Error(`there is no "api" ${JSON.stringify(api)}; use one of ${wireFormats.join(", ")}`);
}

function checkAddress(address: unknown, place: string): void {
	const fault = typeof address === "string" ? findAddressFault(address) : undefined;
	if (fault !== undefined) throw new Error(`${place} ${fault}`);
}

function readModels(value: unknown, wireFormats: readonly string[]): ModelSettings[] {
	if (!Array.isArray(value)) throw new Error('"models" is not a list');
	return value.map((model) => {
		if (!isJsonObject(model) || typeof model.id !== "string" || model.id === "") throw new Error('a model has no "id"');
		checkFields(model, model.id, wireFormats);
		return model as unknown as ModelSettings;
	});
}

function readOverrides(
	value: Record<string, unknown>,
	wireFormats: readonly string[],
): Record<string, Partial<ModelSettings>> {
	for (const [id, override] of Object.entries(value)) {
		if (!isJsonObject(override)) throw new Error(`the override of "${id}" is not an object`);
		checkFields(override, id, wireFormats);
	}
	return value as Record<string, Partial<ModelSettings>>;
}

const FIELD_TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
	name: (value) => typeof value === "string",
	baseUrl: (value) => typeof value === "string",
	reasoning: (value) => typeof value === "boolean",
	input: (value) => Array.isArray(value) && value.every((kind) => kind === "text" || kind === "image"),
	cost: (value) => isJsonObject(value) && Object.values(value).every((price) => typeof price === "number"),
	contextWindow: (value) => typeof value === "number" && value > 0,
	maxTokens: (value) => typeof value === "number" && value > 0,
	headers: isJsonObject,
	compat: isJsonObject,
	thinkingLevelMap: isJsonObject,
};

/** Fields that are passed on unchecked: their values are the library's own. */
const MODEL_KEYS = [
	...["id", "api", "type", "promptCache", "inputLimits", "samplingParams", "samplingParamsByThinkingLevel"],
	...Object.keys(FIELD_TYPES),
];

function checkFields(model: Record<string, unknown>, id: string, wireFormats: readonly string[]): void {
	checkApi(model.api, wireFormats);
	for (const [field, isRight] of Object.entries(FIELD_TYPES)) {
		if (model[field] !== undefined && !isRight(model[field])) throw new Error(`"${field}" of model "${id}" is wrong`);
	}
	checkAddress(model.baseUrl, `"baseUrl" of model "${id}"`);
}
