import type { AgentLoopConfig } from "@prime-agent/loop";

/** What the loop needs to know of a model. */
export type ModelFacts = AgentLoopConfig["model"];

/** The providers that have a profile. */
export const providerNames = ["anthropic", "openai", "gemini"] as const;

/** One of `providerNames`. */
export type ProviderName = (typeof providerNames)[number];

interface CatalogueEntry {
	name: string;
	contextWindow: number;
	maxTokens: number;
	/** Thinking can be adjusted by level only, and these are the levels; absent for models with a thinking budget. */
	levels?: readonly string[];
	/** Thinking cannot be switched off. */
	alwaysThinks?: true;
	/** Year and month of the newest facts in the training, where the provider says so. */
	knowledgeCutoff?: string;
}

const fiveLevels = ["low", "medium", "high", "xhigh", "max"];
const threeLevels = ["low", "medium", "high"];
const million = 1_000_000;
const geminiWindow = 1_048_576;

/** Advisory facts (providers' model pages, November 2026); the first of a provider is its default. */
const catalogue: Record<ProviderName, Record<string, CatalogueEntry>> = {
	anthropic: {
		"claude-sonnet-5-5": {
			name: "Claude Sonnet 5.5",
			contextWindow: million,
			maxTokens: 128_000,
			levels: fiveLevels,
			alwaysThinks: true,
		},
		"claude-opus-5-5": {
			name: "Claude Opus 5.5",
			contextWindow: million,
			maxTokens: 128_000,
			levels: fiveLevels,
			alwaysThinks: true,
		},
		"claude-haiku-5-5": { name: "Claude Haiku 5.5", contextWindow: million, maxTokens: 128_000, levels: fiveLevels },
		"claude-opus-5": { name: "Claude Opus 5", contextWindow: million, maxTokens: 128_000, levels: fiveLevels },
		"claude-sonnet-5": { name: "Claude Sonnet 5", contextWindow: million, maxTokens: 128_000, levels: fiveLevels },
		"claude-opus-4-6": { name: "Claude Opus 4.6", contextWindow: million, maxTokens: 128_000, levels: ["max"] },
		"claude-sonnet-4-6": { name: "Claude Sonnet 4.6", contextWindow: million, maxTokens: 128_000, levels: ["max"] },
		"claude-opus-4-5": { name: "Claude Opus 4.5", contextWindow: 200_000, maxTokens: 64_000 },
		"claude-sonnet-4-5": { name: "Claude Sonnet 4.5", contextWindow: 200_000, maxTokens: 64_000 },
		"claude-haiku-4-5": { name: "Claude Haiku 4.5", contextWindow: 200_000, maxTokens: 64_000 },
	},
	openai: {
		"gpt-6.2-sol": {
			name: "GPT-6.2 Sol",
			contextWindow: 272_000,
			maxTokens: 128_000,
			levels: fiveLevels,
			alwaysThinks: true,
		},
		"gpt-6.2-astra": {
			name: "GPT-6.2 Astra",
			contextWindow: 272_000,
			maxTokens: 128_000,
			levels: fiveLevels,
			alwaysThinks: true,
		},
		"gpt-6-luna": { name: "GPT-6 Luna", contextWindow: 272_000, maxTokens: 128_000, levels: fiveLevels },
		"gpt-5.4": {
			name: "GPT-5.4",
			contextWindow: 272_000,
			maxTokens: 128_000,
			levels: ["low", "medium", "high", "xhigh"],
		},
		"gpt-5.2": {
			name: "GPT-5.2",
			contextWindow: 400_000,
			maxTokens: 128_000,
			levels: ["low", "medium", "high", "xhigh"],
		},
	},
	gemini: {
		"gemini-4-argon": {
			name: "Gemini 4 Argon",
			contextWindow: geminiWindow,
			maxTokens: 32_768,
			levels: threeLevels,
			alwaysThinks: true,
		},
		"gemini-3.8-flash": {
			name: "Gemini 3.8 Flash",
			contextWindow: geminiWindow,
			maxTokens: 65_536,
			levels: threeLevels,
			alwaysThinks: true,
		},
		"gemini-3.1-pro-preview": {
			name: "Gemini 3.1 Pro Preview",
			contextWindow: geminiWindow,
			maxTokens: 65_536,
			levels: threeLevels,
			alwaysThinks: true,
		},
		"gemini-2.5-pro": { name: "Gemini 2.5 Pro", contextWindow: geminiWindow, maxTokens: 65_536 },
	},
};

/** What holds for a model that the catalogue does not know. */
const unknownModel = { contextWindow: 200_000, maxTokens: 4096 };

const wire = {
	anthropic: { api: "anthropic-messages", provider: "anthropic" },
	openai: { api: "openai-responses", provider: "openai" },
	gemini: { api: "google-generative-ai", provider: "google" },
} satisfies Record<ProviderName, { api: string; provider: string }>;

/** The id of the model that a provider's profile uses unless another is named. */
export function findDefaultModel(provider: ProviderName): string {
	return Object.keys(catalogue[provider])[0]!;
}

/** Year and month of a model's knowledge, where known. */
export function findKnowledgeCutoff(provider: ProviderName, id: string): string | undefined {
	return catalogue[provider][id]?.knowledgeCutoff;
}

function mapLevels({ levels, alwaysThinks }: CatalogueEntry): Record<string, string | null> {
	const map: Record<string, string | null> = {};
	for (const level of levels ?? []) map[level] = level;
	if (alwaysThinks) map.off = null;
	return map;
}

/**
 * The facts of a model under its provider's wire format. Every id is taken: unknown ones get a window of 200,000
 * tokens, 4,096 tokens of output and vision.
 */
export function describeModel(provider: ProviderName, id: string, baseUrl: string): ModelFacts {
	const entry = catalogue[provider][id];
	const facts: ModelFacts = {
		...wire[provider],
		id,
		name: entry?.name ?? id,
		baseUrl,
		reasoning: entry !== undefined,
		input: ["text", "image"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: entry?.contextWindow ?? unknownModel.contextWindow,
		maxTokens: entry?.maxTokens ?? unknownModel.maxTokens,
	};
	if (entry?.levels) facts.thinkingLevelMap = mapLevels(entry);
	// Newer Claude models take a level of effort in place of a budget of thinking tokens.
	if (provider === "anthropic" && entry?.levels) facts.compat = { forceAdaptiveThinking: true } as never;
	return facts;
}
