import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { wireFormats } from "@prime-agent/loop";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import type { KeyChain } from "./keys.ts";
import { BUILTIN_PROVIDERS } from "./providers.ts";
import { ModelRegistry } from "./registry.ts";
import { selectModel } from "./selection.ts";

/** Has a key for the providers named, and for those that need none. */
function keysFor(...providers: string[]): KeyChain {
	const status: KeyChain["status"] = async ({ provider, keyless, fallback }) => {
		if (providers.includes(provider)) return { source: "environment", label: "TEST" };
		if (fallback) return { source: "fallback", label: "models.json" };
		return keyless ? { source: "keyless", label: "no key" } : undefined;
	};
	const resolve = async () => undefined;
	return { status, resolve };
}

async function open(
	options: { file?: object | string; env?: Record<string, string>; keys?: KeyChain } = {},
): Promise<ModelRegistry> {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const agentFolder = join(home.path, "agent");
	await mkdir(agentFolder);
	const { file } = options;
	if (file !== undefined) {
		await writeFile(join(agentFolder, "models.json"), typeof file === "string" ? file : JSON.stringify(file));
	}
	return ModelRegistry.open({ agentFolder, env: options.env ?? {}, keys: options.keys ?? keysFor(), wireFormats });
}

const server = { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", models: [{ id: "m" }] };

it("has each provider's default in that provider's catalogue", async () => {
	for (const { id, defaultModel, catalog } of BUILTIN_PROVIDERS) {
		const models = await catalog();
		expect(Object.keys(models).length, id).toBeGreaterThan(0);
		if (defaultModel) expect(models[defaultModel], id).toMatchObject({ id: defaultModel, provider: id });
	}
});

it("gives a model of models.json plain defaults", async () => {
	const registry = await open({ file: { providers: { local: server } } });
	expect(await registry.find("local", "m")).toEqual({
		id: "m",
		name: "m",
		provider: "local",
		api: "openai-completions",
		baseUrl: "http://127.0.0.1:1/v1",
		reasoning: false,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: 128_000,
		maxTokens: 16_384,
	});
});

it("lets one wrong provider of models.json hide no other", async () => {
	const wrong = { baseUrl: "http://127.0.0.1:2/v1", models: [{ id: "x" }] };
	const registry = await open({ file: { providers: { wrong, local: server } } });
	expect(await registry.find("local", "m")).toBeDefined();
	expect(registry.canonical("wrong")).toBeUndefined();
	expect(registry.warnings).toEqual([
		expect.stringMatching(/models\.json: provider "wrong" is not used: model "x" has no "api"\.$/),
	]);
});

it.each([
	["{", /is not used: it is not valid JSON \(line 1, column 2\)\.$/],
	["[]", /is not used: it is not a JSON object/],
	[{ providers: [] }, /is not used: "providers" is not an object/],
	[{ provider: {} }, /: "provider" is not known\. Did you mean "providers"\?$/],
	[
		{ providers: { a: { ...server, baseURL: "x" } } },
		/provider "a": "baseURL" is not known\. Did you mean "baseUrl"\?$/,
	],
	[
		{ providers: { a: { ...server, models: [{ id: "m", contextwindow: 5 }] } } },
		/provider "a": model "m": "contextwindow" is not known\. Did you mean "contextWindow"\?$/,
	],
	[
		{ providers: { a: { ...server, api: "openai" } } },
		/provider "a" is not used: there is no "api" "openai"; use one of anthropic-messages, .*openai-responses/,
	],
	[{ providers: { a: { ...server, models: [{ id: "m", api: 5 }] } } }, /is not used: there is no "api" 5; use one of /],
	[{ providers: { a: { ...server, models: "m" } } }, /"models" is not a list/],
	[{ providers: { a: { ...server, models: [{}] } } }, /a model has no "id"/],
	[
		{ providers: { a: { ...server, models: [{ id: "m", contextWindow: "big" }] } } },
		/"contextWindow" of model "m" is wrong/,
	],
	[
		{ providers: { a: { ...server, baseUrl: "localhost:8000/v1" } } },
		/models\.json: provider "a" is not used: "baseUrl" must begin with http:\/\/ or https:\/\/\.$/,
	],
	[{ providers: { a: { ...server, baseUrl: "http://" } } }, /is not used: "baseUrl" is not a valid address\.$/],
	[
		{ providers: { a: { ...server, models: [{ id: "m", baseUrl: "localhost/v1" }] } } },
		/is not used: "baseUrl" of model "m" must begin with http/,
	],
	[
		{ providers: { openai: { modelOverrides: { "gpt-5": { baseUrl: "localhost/v1" } } } } },
		/provider "openai" is not used: "baseUrl" of model "gpt-5" must begin with http/,
	],
	[
		{ providers: { a: {} } },
		/provider "a" is not used: it is not built in, so its entry needs "baseUrl", "api", "models"\.$/,
	],
	[{ providers: { a: { ...server, models: [] } } }, /is not used: it is not built in, so its entry needs "models"\.$/],
	[{ providers: { a: { ...server, headers: { "x-a": 1 } } } }, /"headers" is not an object of texts/],
])("says what is wrong with models.json %j", async (file, warning) => {
	const registry = await open({ file });
	expect(registry.warnings.join()).toMatch(warning);
});

it("does not ask a known provider at its own address when its entry in models.json is wrong", async () => {
	const registry = await open({
		file: { providers: { openai: { baseUrl: "http://127.0.0.1:1/v1", api: "openai" } } },
		keys: keysFor("openai"),
	});
	expect(registry.canonical("openai")).toBeUndefined();
	expect(registry.providers()).not.toContain("openai");
	await expect(selectModel(registry, { named: { id: "gpt-5" } })).rejects.toThrow();
});

it.each([
	[{ named: { id: "local/m" } }],
	[{ named: { provider: "local", id: "m" } }],
	[{}],
	[{ settings: { provider: "local" } }],
	[{ last: { provider: "local", id: "m" } }],
])("lets no other provider stand in for a server of models.json whose address is wrong: %j", async (wish) => {
	const file = { providers: { local: { ...server, baseUrl: "localhost:8000/v1" } } };
	const registry = await open({ file, keys: keysFor("anthropic") });
	await expect(selectModel(registry, wish)).rejects.toThrow(
		/models\.json: provider "local" is not used: "baseUrl" must begin with http:\/\/ or https:\/\/\.$/,
	);
});

it.each([
	["openai", "OPENAI_BASE_URL", "gpt-5"],
	["azure", "AZURE_OPENAI_BASE_URL", "gpt-5"],
])("does not use %s when %s has no scheme, and leaves the others as they are", async (provider, variable, id) => {
	const env = { [variable]: "user:canary@localhost:8000/v1" };
	const registry = await open({ env, keys: keysFor(provider, "xai") });
	const why = `The variable ${variable} must begin with http:// or https://; ${provider} is not used.`;
	expect(registry.warnings).toEqual([why]);
	for (const wish of [{ named: { id: `${provider}/${id}` } }, { named: { provider } }]) {
		await expect(selectModel(registry, wish)).rejects.toThrow(why);
	}
	expect((await selectModel(registry, { named: { provider: "xai" } })).model.provider).toBe("xai");
});

it("adds models to a known provider, and changes those it has", async () => {
	const registry = await open({
		file: {
			providers: {
				openai: {
					models: [{ id: "gpt-new", contextWindow: 5 }],
					modelOverrides: { "gpt-5": { name: "Five", cost: { output: 7 }, compat: { supportsStore: false } } },
				},
			},
		},
	});
	const plain = await open();
	const known = (await plain.find("openai", "gpt-5"))!;
	expect(await registry.find("openai", "gpt-new")).toMatchObject({
		api: "openai-responses",
		baseUrl: "https://api.openai.com/v1",
		contextWindow: 5,
		provider: "openai",
	});
	expect(await registry.find("openai", "gpt-5")).toEqual({
		...known,
		name: "Five",
		cost: { ...known.cost, output: 7 },
		compat: { ...known.compat, supportsStore: false },
	});
});

it("moves a provider to the address of its variable, or of models.json, which is stronger", async () => {
	const env = { OPENAI_BASE_URL: "http://127.0.0.1:3/v1" };
	const moved = await open({ env });
	expect((await moved.find("openai", "gpt-5"))?.baseUrl).toBe("http://127.0.0.1:3/v1");
	const file = { providers: { openai: { baseUrl: "http://127.0.0.1:4/v1" } } };
	const written = await open({ env: { OPENAI_BASE_URL: "no address" }, file });
	expect((await written.find("openai", "gpt-5"))?.baseUrl).toBe("http://127.0.0.1:4/v1");
});

it("tells who wrote the address of a model, and nobody for the provider's own", async () => {
	const models = [{ id: "gpt-moved", baseUrl: "http://127.0.0.1:5/v1" }];
	const file = { providers: { local: server, openai: { models } } };
	const registry = await open({ env: { XAI_BASE_URL: "http://127.0.0.1:3/v1" }, file });
	const place = async (provider: string, id: string) => registry.addressPlace((await registry.find(provider, id))!);
	expect(await place("local", "m")).toBe("models.json");
	expect(await place("openai", "gpt-moved")).toBe("models.json");
	expect(await place("openai", "gpt-5")).toBeUndefined();
	expect(await place("xai", "grok-4.7")).toBe("XAI_BASE_URL");
});

it("knows a provider by its other name", async () => {
	const registry = await open();
	expect((await registry.find("azure-openai-responses", "gpt-5"))?.provider).toBe("azure");
});

it("prefers the named model to the settings, these to the session's last, and that to a default", async () => {
	const registry = await open({ keys: keysFor("anthropic", "openai", "google", "xai") });
	const named = { provider: "xai", id: "grok-4.7" };
	const settings = { provider: "google", id: "gemini-3.8-flash" };
	const last = { provider: "openai", id: "gpt-5" };
	const choose = async (wish: Parameters<typeof selectModel>[1]) => (await selectModel(registry, wish)).model.id;
	expect(await choose({ named, settings, last })).toBe("grok-4.7");
	expect(await choose({ settings, last })).toBe("gemini-3.8-flash");
	expect(await choose({ last })).toBe("gpt-5");
	expect(await choose({})).toBe("claude-sonnet-5-5");
});

it("takes a server of models.json before any built-in provider", async () => {
	const registry = await open({ file: { providers: { local: server } }, keys: keysFor("anthropic") });
	expect((await selectModel(registry, {})).model.provider).toBe("local");
});

it("never chooses by itself a provider whose variables often hold keys for other things", async () => {
	const registry = await open({ keys: keysFor("github-copilot") });
	await expect(selectModel(registry, {})).rejects.toMatchObject({ code: "no_model" });
});

it("finds a model by provider/id, by an id with a slash, and by a bare id of a provider with a key", async () => {
	const registry = await open({ keys: keysFor("openrouter", "azure") });
	const choose = async (id: string) => (await selectModel(registry, { named: { id } })).model;
	expect(await choose("azure/gpt-5")).toMatchObject({ provider: "azure", id: "gpt-5" });
	expect(await choose("anthropic/claude-sonnet-5.5")).toMatchObject({ provider: "openrouter" });
	expect(await choose("gpt-5")).toMatchObject({ provider: "azure" });
});

it("accepts the provider's name in front of the id beside --provider", async () => {
	const registry = await open({ keys: keysFor("openai") });
	const { model } = await selectModel(registry, { named: { provider: "openai", id: "openai/gpt-5" } });
	expect(model.id).toBe("gpt-5");
});

it("tells that a model which cannot be used was asked for by the settings", async () => {
	const registry = await open({ keys: keysFor("openai") });
	const choose = (settings: object, named = {}) => selectModel(registry, { settings, named });
	await expect(choose({ id: "gone" })).rejects.toThrow(
		'Model "gone" not found. Use "prime-agent model list" to see available models. ' +
			'settings.json asks for it with "defaultModel".',
	);
	await expect(choose({ provider: "xai" })).rejects.toThrow(/ settings\.json asks for it with "defaultProvider"\.$/);
	await expect(choose({ provider: "openai", id: "gone" })).rejects.toThrow(
		/ settings\.json asks for it with "defaultProvider" and "defaultModel"\.$/,
	);
	await expect(choose({ id: "gone" }, { id: "lost" })).rejects.toThrow(/models\.$/);
});

it.each([
	[{ id: "nope/none" }, 'Model "nope/none" not found. Use "prime-agent model list" to see available models.'],
	[{ provider: "openai", id: "none" }, 'Model "openai/none" not found.'],
	[{ provider: "openai", id: "gtp-5" }, 'Model "openai/gtp-5" not found. Did you mean "gpt-5"? Use'],
	[{ id: "opnai/gpt-5" }, 'Model "opnai/gpt-5" not found. Did you mean "openai/gpt-5"? Use'],
	[{ provider: "opnai", id: "gpt-5" }, 'Model "opnai/gpt-5" not found. Did you mean "openai"? Use'],
	[{ provider: "antropic" }, 'Unknown provider "antropic". Did you mean "anthropic"? Known: anthropic,'],
	[{ provider: "nope" }, 'Unknown provider "nope". Known: anthropic,'],
	[{ provider: "openai" }, "No API key found for openai. Set OPENAI_API_KEY, store a key in "],
	[{ provider: "anthropic" }, "No API key found for anthropic. Set ANTHROPIC_API_KEY, store a key in "],
	[{ provider: "github-copilot" }, 'The provider "github-copilot" has no default model. Name one with --model.'],
])("refuses the model %j with what to do", async (named, message) => {
	const registry = await open();
	await expect(selectModel(registry, { named })).rejects.toThrow(message);
});

it("names the files in which a key or a server can be written down", async () => {
	const registry = await open();
	const { auth, models } = registry.files;
	expect([auth, models].every((path) => path.startsWith("/"))).toBe(true);
	await expect(selectModel(registry, { named: { provider: "openai" } })).rejects.toThrow(
		`store a key in ${auth}, or write it as "apiKey" into ${models}.`,
	);
	await expect(selectModel(registry, {})).rejects.toThrow(`store one in ${auth}, or describe a server in ${models}.`);
});

it("asks for no key when one is given", async () => {
	const registry = await open();
	const { model } = await selectModel(registry, { named: { provider: "openai" }, isKeyGiven: true });
	expect(model.provider).toBe("openai");
});

it("does not fall back silently from a default of the settings that has no key", async () => {
	const registry = await open({ keys: keysFor("openai") });
	await expect(selectModel(registry, { settings: { provider: "xai" } })).rejects.toThrow("No API key found for xai.");
});

it("says so when the session's model cannot be used any more", async () => {
	const registry = await open({ keys: keysFor("openai") });
	const { model, note } = await selectModel(registry, { last: { provider: "xai", id: "grok-4.7" } });
	expect(model.provider).toBe("openai");
	expect(note).toBe("The session's model xai/grok-4.7 has no key any more; this run uses openai/gpt-6.2-sol.");
});
