import { join } from "node:path";
import type { Api, Model } from "@earendil-works/pi-ai";
import type { Environment } from "../platform/paths.ts";
import type { Key, KeyQuery, KeyStatus } from "../protocol/credential.ts";
import { findAddressFault } from "./address.ts";
import type { Catalog } from "./catalog.ts";
import type { KeyChain } from "./keys.ts";
import {
	completeModel,
	type ModelSettings,
	type ModelsFile,
	type ProviderSettings,
	readModelsFile,
} from "./models-file.ts";
import { addressVariable, BUILTIN_PROVIDERS, type BuiltinProvider, baseUrlVariable, findBuiltin } from "./providers.ts";

/** Every model that could be used: the built-in catalogues under what `models.json` and the environment change. */
export class ModelRegistry {
	/** The paths of the files in which people write down keys and servers; they need not exist. */
	readonly files: { readonly auth: string; readonly models: string };
	readonly #env: Environment;
	readonly #keys: KeyChain;
	readonly #file: ModelsFile;
	/** Providers that are not used, and why. */
	readonly #refused: ReadonlyMap<string, string>;
	/** What is wrong with variables that hold addresses. */
	readonly #slips: ReadonlyMap<string, string>;
	readonly #catalogs = new Map<string, Promise<Catalog>>();

	private constructor(env: Environment, keys: KeyChain, files: ModelRegistry["files"], file: ModelsFile) {
		this.files = files;
		this.#env = env;
		this.#keys = keys;
		this.#file = file;
		this.#slips = this.#checkVariables();
		this.#refused = new Map([...this.#slips, ...file.refused]);
	}

	/** Reads `models.json` of the agent folder; no catalogue yet. */
	static open(options: {
		agentFolder: string;
		env: Environment;
		keys: KeyChain;
		wireFormats: readonly string[];
	}): ModelRegistry {
		const { agentFolder, env, keys, wireFormats } = options;
		const isKnown = (provider: string) => findBuiltin(provider) !== undefined;
		const files = { auth: join(agentFolder, "auth.json"), models: join(agentFolder, "models.json") };
		return new ModelRegistry(env, keys, files, readModelsFile(files.models, { isKnown, wireFormats }));
	}

	/** What a person should know about `models.json` and the variables that move providers. */
	get warnings(): readonly string[] {
		return [...this.#file.warnings, ...this.#slips.values()];
	}

	/** Ids of all providers: those of `models.json` first, because somebody wrote them down, then the built-in ones. */
	providers(): readonly string[] {
		const written = [...this.#file.providers.keys()].filter((id) => !findBuiltin(id));
		return [...written, ...BUILTIN_PROVIDERS.map(({ id }) => id).filter((id) => this.canonical(id) !== undefined)];
	}

	/** Ids as `providers` has them, with those that are not used in the places where they would be chosen. */
	ranked(): readonly string[] {
		const written = [...this.#file.providers.keys(), ...this.#file.refused.keys()].filter((id) => !findBuiltin(id));
		return [...written, ...BUILTIN_PROVIDERS.map(({ id }) => id)];
	}

	/** Why the provider that people call by this name is not used, or undefined. */
	refusal(name: string): string | undefined {
		const builtin = findBuiltin(name);
		const names = builtin ? namesOf(builtin) : [name];
		return names.map((each) => this.#refused.get(each)).find((why) => why !== undefined);
	}

	/** Whether a provider has this name, usable or not. */
	isNamed(name: string): boolean {
		return findBuiltin(name) !== undefined || this.#file.providers.has(name) || this.#file.refused.has(name);
	}

	/** The id of the provider that people call by this name, or undefined. */
	canonical(name: string): string | undefined {
		const builtin = findBuiltin(name);
		if (!builtin) return this.#file.providers.has(name) ? name : undefined;
		return this.refusal(name) === undefined ? builtin.id : undefined;
	}

	/** The provider's models; empty for an unknown one. */
	models(provider: string): Promise<Catalog> {
		let catalog = this.#catalogs.get(provider);
		if (!catalog) {
			catalog = this.#load(provider);
			this.#catalogs.set(provider, catalog);
		}
		return catalog;
	}

	/** The model, or undefined. */
	async find(provider: string, id: string): Promise<Model<Api> | undefined> {
		const canonical = this.canonical(provider);
		return canonical === undefined ? undefined : (await this.models(canonical))[id];
	}

	/** The model to take where only the provider is known, or undefined where the choice is a person's. */
	async defaultModel(provider: string): Promise<Model<Api> | undefined> {
		const models = await this.models(provider);
		const written = this.#settings(provider)?.models?.[0]?.id;
		const id = findBuiltin(provider)?.defaultModel ?? written;
		return id === undefined ? undefined : models[id];
	}

	/** Where the provider's key comes from, or undefined without one; an expired login has the source `stale`. */
	status(provider: string): Promise<KeyStatus | undefined> {
		return this.#keys.status(this.#query(provider));
	}

	/** The provider's key, or undefined without one. */
	key(provider: string, signal?: AbortSignal): Promise<Key | undefined> {
		return this.#keys.resolve(this.#query(provider), signal);
	}

	/** The environment variables that the provider's key is looked for in. */
	variables(provider: string): readonly string[] {
		return findBuiltin(provider)?.variables ?? [];
	}

	/** Headers of `models.json` for the provider, as configured, and whether the key goes into one. */
	request(provider: string): Pick<ProviderSettings, "headers" | "authHeader"> {
		return this.#settings(provider) ?? { authHeader: false };
	}

	/** Where a person wrote the address of the model: a file or a variable; undefined for the provider's own. */
	addressPlace({ provider, id }: Model<Api>): string | undefined {
		const settings = this.#settings(provider);
		const written = [settings, settings?.models?.find((model) => model.id === id), settings?.modelOverrides[id]];
		if (written.some((entry) => entry?.baseUrl !== undefined)) return "models.json";
		const builtin = findBuiltin(provider);
		const variable = builtin && baseUrlVariable(builtin);
		return variable && this.#env[variable] ? variable : undefined;
	}

	#settings(provider: string): ProviderSettings | undefined {
		const builtin = findBuiltin(provider);
		const names = builtin ? namesOf(builtin) : [provider];
		return names.map((name) => this.#file.providers.get(name)).find((settings) => settings !== undefined);
	}

	#query(provider: string): KeyQuery {
		const builtin = findBuiltin(provider);
		const fallback = this.#settings(provider)?.apiKey;
		return {
			provider,
			variables: builtin?.variables ?? [],
			// A server that somebody wrote down answers without a key unless it says otherwise.
			keyless: builtin === undefined && this.isNamed(provider),
			...(fallback === undefined ? {} : { fallback }),
			...(builtin?.aliases ? { aliases: builtin.aliases } : {}),
			...(builtin?.ambient ? { ambient: builtin.ambient } : {}),
			...(builtin?.primeOrder ? { primeOrder: true } : {}),
		};
	}

	/** A wrong address is no reason to ask the provider's own server: another one was meant. */
	#checkVariables(): Map<string, string> {
		const slips = new Map<string, string>();
		for (const builtin of BUILTIN_PROVIDERS) {
			const variable = addressVariable(builtin);
			const address = variable && this.#env[variable];
			const isReplaced = baseUrlVariable(builtin) && this.#settings(builtin.id)?.baseUrl !== undefined;
			const fault = address && !isReplaced ? findAddressFault(address) : undefined;
			if (fault) slips.set(builtin.id, `The variable ${variable} ${fault}; ${builtin.id} is not used.`);
		}
		return slips;
	}

	async #load(provider: string): Promise<Catalog> {
		const builtin = findBuiltin(provider);
		const settings = this.#settings(provider);
		const catalog = (await builtin?.catalog()) ?? {};
		const variable = builtin && baseUrlVariable(builtin);
		const moved = settings?.baseUrl ?? (variable ? this.#env[variable] : undefined);
		const models: Record<string, Model<Api>> = {};
		for (const model of Object.values(catalog)) {
			models[model.id] = changeModel(model, {
				...(moved ? { baseUrl: moved } : {}),
				...(settings?.api ? { api: settings.api } : {}),
				...(settings?.compat ? { compat: settings.compat } : {}),
			});
		}
		if (settings) applySettings(provider, settings, models);
		return models;
	}
}

function namesOf({ id, aliases = [] }: BuiltinProvider): readonly string[] {
	return [id, ...aliases];
}

function applySettings(provider: string, settings: ProviderSettings, models: Record<string, Model<Api>>): void {
	const sample = Object.values(models)[0];
	for (const written of settings.models ?? []) {
		const known = models[written.id] ?? (sample && { api: sample.api, baseUrl: sample.baseUrl });
		models[written.id] = completeModel(provider, settings, { ...known, ...written });
	}
	for (const [id, override] of Object.entries(settings.modelOverrides)) {
		const known = models[id];
		if (known) models[id] = changeModel(known, override);
	}
}

function changeModel(model: Model<Api>, change: Partial<ModelSettings>): Model<Api> {
	const { compat, cost, ...fields } = change;
	return {
		...model,
		...fields,
		...(cost ? { cost: { ...model.cost, ...cost } } : {}),
		...(compat ? { compat: { ...model.compat, ...compat } } : {}),
		id: model.id,
		provider: model.provider,
	} as Model<Api>;
}
