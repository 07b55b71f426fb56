import type { Api, Model } from "@earendil-works/pi-ai";
import { suggest } from "../lib/edit-distance.ts";
import type { ModelRegistry } from "./registry.ts";

/** A model by name. */
export interface ModelName {
	readonly provider: string;
	readonly id: string;
}

/** What is known about the model that is wanted, strongest first. */
export interface ModelWish {
	/** Named for this run. */
	readonly named?: PartialName;
	/** A key for the named model is at hand; none is looked for. */
	readonly isKeyGiven?: boolean;
	/** Of the settings. */
	readonly settings?: PartialName;
	/** Last used in the session that goes on. */
	readonly last?: ModelName | undefined;
}

/** A provider alone takes that provider's default; `id` alone may be `provider/id`. */
interface PartialName {
	readonly provider?: string | undefined;
	readonly id?: string | undefined;
}

/** The chosen model; `note` tells why it is not the one that might be expected. */
export interface Choice {
	readonly model: Model<Api>;
	readonly note?: string;
}

/** No model can be used; the message says what to do. */
export class ModelError extends Error {
	override name = "ModelError";
	readonly code: "no_model" | "not_found" | "no_key" | "refused";
	constructor(code: ModelError["code"], message: string) {
		super(message);
		this.code = code;
	}
}

/**
 * Chooses the model of a run: named, settings, last used in the session, then the first provider with a key.
 * @throws {ModelError} when the wanted model is unknown, its provider has no key or a wrong set-up, or when nothing is configured.
 */
export async function selectModel(registry: ModelRegistry, wish: ModelWish): Promise<Choice> {
	if (isNamed(wish.named)) {
		const model = await findWanted(registry, wish.named);
		return { model: wish.isKeyGiven ? model : await requireKey(registry, model) };
	}
	if (isNamed(wish.settings)) return { model: await findOfSettings(registry, wish.settings) };
	if (!wish.last) return { model: await findDefault(registry) };

	refuse(registry, wish.last.provider);
	const last = await registry.find(wish.last.provider, wish.last.id);
	if (last && (await registry.status(last.provider))) return { model: last };
	const model = await findDefault(registry);
	const why = last ? "has no key any more" : "is not known any more";
	const name = `${wish.last.provider}/${wish.last.id}`;
	return { model, note: `The session's model ${name} ${why}; this run uses ${model.provider}/${model.id}.` };
}

function isNamed(name: PartialName | undefined): name is PartialName {
	return name?.provider !== undefined || name?.id !== undefined;
}

async function requireKey(registry: ModelRegistry, model: Model<Api>): Promise<Model<Api>> {
	if (!(await registry.status(model.provider))) throw noKey(registry, model.provider);
	return model;
}

/** Who gave no model on the command line would not know where a wrong one comes from. */
async function findOfSettings(registry: ModelRegistry, wish: PartialName): Promise<Model<Api>> {
	try {
		return await requireKey(registry, await findWanted(registry, wish));
	} catch (error) {
		// A refusal names its own file.
		if (!(error instanceof ModelError) || error.code === "refused") throw error;
		const provider = wish.provider === undefined ? [] : ['"defaultProvider"'];
		const keys = [...provider, ...(wish.id === undefined ? [] : ['"defaultModel"'])].join(" and ");
		throw new ModelError(error.code, `${error.message} settings.json asks for it with ${keys}.`);
	}
}

async function findWanted(registry: ModelRegistry, wish: PartialName): Promise<Model<Api>> {
	if (wish.provider !== undefined) return findIn(registry, wish.provider, wish.id);
	const name = wish.id ?? "";
	const slash = name.indexOf("/");
	if (slash > 0) {
		refuse(registry, name.slice(0, slash));
		// Before the slash stands a provider, or a maker as in the ids of OpenRouter.
		const named = await registry.find(name.slice(0, slash), name.slice(slash + 1));
		if (named) return named;
	}
	const found = await findAnywhere(registry, name);
	if (!found) throw notFound(name, await findNear(registry, name));
	return found;
}

/** Asks for the nearest name of a model that has a key, or else of any. */
async function findNear(registry: ModelRegistry, name: string): Promise<string> {
	const usable: string[] = [];
	const all: string[] = [];
	for (const provider of registry.providers()) {
		const names = Object.keys(await registry.models(provider)).flatMap((id) => [id, `${provider}/${id}`]);
		all.push(...names);
		if (await registry.status(provider)) usable.push(...names);
	}
	return suggest(name, usable) || suggest(name, all);
}

async function findIn(registry: ModelRegistry, name: string, id: string | undefined): Promise<Model<Api>> {
	refuse(registry, name);
	const provider = registry.canonical(name);
	if (provider === undefined) {
		const known = registry.providers();
		if (id !== undefined) throw notFound(`${name}/${id}`, suggest(name, known));
		const hint = suggest(name, known);
		throw new ModelError("not_found", `Unknown provider "${name}". ${hint}Known: ${known.join(", ")}.`);
	}
	if (id === undefined) {
		const model = await registry.defaultModel(provider);
		if (model) return model;
		throw new ModelError("no_model", `The provider "${provider}" has no default model. Name one with --model.`);
	}
	const prefix = `${name}/`;
	const model =
		(await registry.find(provider, id)) ??
		(id.startsWith(prefix) ? await registry.find(provider, id.slice(prefix.length)) : undefined);
	if (!model) throw notFound(`${name}/${id}`, suggest(id, Object.keys(await registry.models(provider))));
	return model;
}

/** The model of that id, of a provider with a key if there is one: the order of providers decides. */
async function findAnywhere(registry: ModelRegistry, id: string): Promise<Model<Api> | undefined> {
	const without: string[] = [];
	for (const provider of registry.providers()) {
		if (!(await registry.status(provider))) {
			without.push(provider);
			continue;
		}
		const model = await registry.find(provider, id);
		if (model) return model;
	}
	for (const provider of without) {
		const model = await registry.find(provider, id);
		if (model) return model;
	}
	return undefined;
}

async function findDefault(registry: ModelRegistry): Promise<Model<Api>> {
	for (const provider of registry.ranked()) {
		const status = await registry.status(provider);
		// the next provider may cost money where the one that was meant costs none
		if (status) refuse(registry, provider);
		const model = status && status.source !== "stale" ? await registry.defaultModel(provider) : undefined;
		if (model) return model;
	}
	throw new ModelError("no_model", describeLack(registry));
}

/** Throws where the provider is not used because of a mistake in its set-up: no other one may stand in for it. */
function refuse(registry: ModelRegistry, provider: string): void {
	const why = registry.refusal(provider);
	if (why !== undefined) throw new ModelError("refused", why);
}

/** What to do when no provider has a key; names the files. */
export function describeLack({ files }: ModelRegistry): string {
	return (
		"No models available. Set an API key in the environment (for example ANTHROPIC_API_KEY or OPENAI_API_KEY), " +
		`store one in ${files.auth}, or describe a server in ${files.models}. /login comes with the interactive mode.`
	);
}

function notFound(name: string, hint: string): ModelError {
	return new ModelError(
		"not_found",
		`Model "${name}" not found. ${hint}Use "prime-agent model list" to see available models.`,
	);
}

/** The error of a provider without a key; names what to set. */
export function noKey(registry: ModelRegistry, provider: string): ModelError {
	// Some providers have variables for logins, too; a key is what people can get.
	const names = registry.variables(provider);
	const variable = names.find((name) => name.endsWith("_API_KEY")) ?? names[0];
	const { auth, models } = registry.files;
	const ways = variable ? `Set ${variable}, store a key in ${auth}` : `Store a key or a login in ${auth}`;
	return new ModelError("no_key", `No API key found for ${provider}. ${ways}, or write it as "apiKey" into ${models}.`);
}
