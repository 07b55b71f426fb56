import type { Api, Model } from "@earendil-works/pi-ai";
import { isJsonObject } from "../lib/json.ts";
import { readJsonFile } from "../platform/json-file.ts";

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
	readonly warnings: readonly string[];
}

/**
 * Reads `models.json`. Never throws; one wrong provider hides no other. Models of a provider that `isKnown` may leave
 * out their address and api.
 */
export function readModelsFile(path: string, isKnown: (provider: string) => boolean): ModelsFile {
	const providers = new Map<string, ProviderSettings>();
	const file = readJsonFile(path);
	if (file.kind === "missing") return { providers, warnings: [] };
	if (file.kind === "broken") return { providers, warnings: [`${path} is not used: ${file.reason}.`] };
	const entries = isJsonObject(file.value) ? (file.value.providers ?? {}) : undefined;
	if (!isJsonObject(entries)) return { providers, warnings: [`${path} is not used: "providers" is not an object.`] };

	const warnings: string[] = [];
	for (const [id, entry] of Object.entries(entries)) {
		try {
			const settings = readProvider(entry);
			if (!isKnown(id)) for (const model of settings.models ?? []) completeModel(id, settings, model);
			providers.set(id, settings);
		} catch (error) {
			warnings.push(`${path}: provider "${id}" is not used: ${(error as Error).message}.`);
		}
	}
	return { providers, warnings };
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

function readProvider(entry: unknown): ProviderSettings {
	if (!isJsonObject(entry)) throw new Error("it is not an object");
	const baseUrl = readText(entry, "baseUrl");
	const api = readText(entry, "api");
	const apiKey = readText(entry, "apiKey");
	return {
		...(baseUrl === undefined ? {} : { baseUrl }),
		...(api === undefined ? {} : { api }),
		...(apiKey === undefined ? {} : { apiKey }),
		...(entry.headers === undefined ? {} : { headers: readHeaders(entry.headers) }),
		...(entry.compat === undefined ? {} : { compat: readObject(entry, "compat") }),
		...(entry.models === undefined ? {} : { models: readModels(entry.models) }),
		authHeader: entry.authHeader === true,
		modelOverrides: entry.modelOverrides === undefined ? {} : readOverrides(readObject(entry, "modelOverrides")),
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

function readModels(value: unknown): ModelSettings[] {
	if (!Array.isArray(value)) throw new Error('"models" is not a list');
	return value.map((model) => {
		if (!isJsonObject(model) || typeof model.id !== "string" || model.id === "") throw new Error('a model has no "id"');
		checkFields(model, model.id);
		return model as unknown as ModelSettings;
	});
}

function readOverrides(value: Record<string, unknown>): Record<string, Partial<ModelSettings>> {
	for (const [id, override] of Object.entries(value)) {
		if (!isJsonObject(override)) throw new Error(`the override of "${id}" is not an object`);
		checkFields(override, id);
	}
	return value as Record<string, Partial<ModelSettings>>;
}

const FIELD_TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
	name: (value) => typeof value === "string",
	api: (value) => typeof value === "string",
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

function checkFields(model: Record<string, unknown>, id: string): void {
	for (const [field, isRight] of Object.entries(FIELD_TYPES)) {
		if (model[field] !== undefined && !isRight(model[field])) throw new Error(`"${field}" of model "${id}" is wrong`);
	}
}
