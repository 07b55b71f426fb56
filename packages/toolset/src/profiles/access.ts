import { describeModel, findDefaultModel, type ModelFacts, type ProviderName } from "./models.ts";

interface AccessNames {
	keyVariable: string;
	baseVariable: string;
	defaultBase: string;
	/** The segment that base URLs may end in, because people copy them with it. */
	version: string;
	/** Whether the client of this provider wants the version in the base URL. */
	wantsVersion: boolean;
}

const names: Record<ProviderName, AccessNames> = {
	anthropic: {
		keyVariable: "ANTHROPIC_API_KEY",
		baseVariable: "ANTHROPIC_BASE_URL",
		defaultBase: "https://api.anthropic.com",
		version: "v1",
		wantsVersion: false,
	},
	openai: {
		keyVariable: "OPENAI_API_KEY",
		baseVariable: "OPENAI_BASE_URL",
		defaultBase: "https://api.openai.com",
		version: "v1",
		wantsVersion: true,
	},
	gemini: {
		keyVariable: "GEMINI_API_KEY",
		baseVariable: "GEMINI_BASE_URL",
		defaultBase: "https://generativelanguage.googleapis.com",
		version: "v1beta",
		wantsVersion: true,
	},
};

/** The environment variable that holds a provider's key. */
export function findKeyVariable(provider: ProviderName): string {
	return names[provider].keyVariable;
}

/** Where and how to reach a model. */
export interface ModelAccess {
	model: ModelFacts;
	apiKey: string;
	headers: Record<string, string>;
}

/** An access that cannot be set up; the message names the variable to look at. */
export class AccessError extends Error {
	readonly code: "missing_key" | "bad_base_url";

	constructor(code: "missing_key" | "bad_base_url", message: string) {
		super(message);
		this.name = "AccessError";
		this.code = code;
	}
}

function chooseBaseUrl(given: string, { baseVariable, version, wantsVersion }: AccessNames): string {
	if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
		throw new AccessError("bad_base_url", `${baseVariable} is not an http or https URL. Correct or unset it.`);
	}
	const trimmed = given.replace(/\/+$/, "");
	const root = trimmed.endsWith(`/${version}`) ? trimmed.slice(0, -version.length - 1) : trimmed;
	return wantsVersion ? `${root}/${version}` : root;
}

/**
 * Sets up the access to a provider's model from environment variables: its key, its `*_BASE_URL`, and for OpenAI the
 * organisation and project. Reads nothing else. Throws an `AccessError` without a key.
 */
export function openAccess(
	provider: ProviderName,
	modelId: string | undefined,
	variables: Record<string, string | undefined>,
): ModelAccess {
	const own = names[provider];
	const apiKey = variables[own.keyVariable];
	if (!apiKey) {
		throw new AccessError("missing_key", `${own.keyVariable} is not set. Set it to your API key for ${provider}.`);
	}
	const baseUrl = chooseBaseUrl(variables[own.baseVariable] || own.defaultBase, own);
	const headers: Record<string, string> = {};
	if (provider === "openai") {
		if (variables.OPENAI_ORG_ID) headers["OpenAI-Organization"] = variables.OPENAI_ORG_ID;
		if (variables.OPENAI_PROJECT_ID) headers["OpenAI-Project"] = variables.OPENAI_PROJECT_ID;
	}
	return { model: describeModel(provider, modelId ?? findDefaultModel(provider), baseUrl), apiKey, headers };
}
