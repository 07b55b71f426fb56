import type { ProviderStreams } from "@earendil-works/pi-ai";
import type { Catalog } from "./catalog.ts";

/** A provider that is known without any file of the user. */
export interface BuiltinProvider {
	readonly id: string;
	/** Other names that people and older files use for it. */
	readonly aliases?: readonly string[];
	/** Taken when only the provider is known; without one the provider is never chosen by itself. */
	readonly defaultModel?: string;
	/** Environment variables that may hold its key, first one first. */
	readonly variables: readonly string[];
	/** Credentials that a cloud's own tools keep, which serve instead of a key. */
	readonly ambient?: "aws" | "vertex";
	/** The environment wins over the stored key, and the key of Prime's own command line counts. */
	readonly primeOrder?: boolean;
	/** Its models; reads the catalogue when called, not before. */
	readonly catalog: () => Promise<Catalog>;
	/** Its own way to send requests, where the address or headers need more than the model tells. */
	readonly streams?: () => Promise<ProviderStreams>;
}

/**
 * Every provider, in the order in which defaults are chosen. The models are those that a person would want for long
 * work at a middle price; providers whose variables often hold a key for something else have none.
 */
// biome-ignore format: one provider a line.
export const BUILTIN_PROVIDERS: readonly BuiltinProvider[] = [
	{ id: "anthropic", defaultModel: "claude-sonnet-5-5", variables: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/anthropic.models").then((m) => m.ANTHROPIC_MODELS) },
	{ id: "openai", defaultModel: "gpt-6.2-sol", variables: ["OPENAI_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/openai.models").then((m) => m.OPENAI_MODELS) },
	{ id: "openai-codex", defaultModel: "gpt-6.2-sol", variables: [], catalog: () => import("@earendil-works/pi-ai/providers/openai-codex.models").then((m) => m.OPENAI_CODEX_MODELS) },
	{ id: "prime-inference", defaultModel: "z-ai/glm-5.2", variables: ["PRIME_API_KEY"], primeOrder: true, catalog: () => import("./prime-inference.ts").then((m) => m.loadPrimeInference()) },
	{ id: "google", defaultModel: "gemini-4-argon", variables: ["GEMINI_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/google.models").then((m) => m.GOOGLE_MODELS) },
	{ id: "xai", defaultModel: "grok-4.7", variables: ["XAI_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/xai.models").then((m) => m.XAI_MODELS) },
	{ id: "openrouter", defaultModel: "anthropic/claude-sonnet-5.5", variables: ["OPENROUTER_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/openrouter.models").then((m) => m.OPENROUTER_MODELS) },
	{ id: "vercel-ai-gateway", defaultModel: "anthropic/claude-sonnet-5.5", variables: ["AI_GATEWAY_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/vercel-ai-gateway.models").then((m) => m.VERCEL_AI_GATEWAY_MODELS) },
	{ id: "deepseek", defaultModel: "deepseek-v4-pro", variables: ["DEEPSEEK_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/deepseek.models").then((m) => m.DEEPSEEK_MODELS) },
	{ id: "zai", defaultModel: "glm-5.3", variables: ["ZAI_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/zai.models").then((m) => m.ZAI_MODELS) },
	{ id: "zai-coding-cn", defaultModel: "glm-5.3", variables: ["ZAI_CODING_CN_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/zai-coding-cn.models").then((m) => m.ZAI_CODING_CN_MODELS) },
	{ id: "moonshotai", defaultModel: "kimi-k3.1-pro", variables: ["MOONSHOT_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/moonshotai.models").then((m) => m.MOONSHOTAI_MODELS) },
	{ id: "moonshotai-cn", defaultModel: "kimi-k3.1-pro", variables: ["MOONSHOT_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/moonshotai-cn.models").then((m) => m.MOONSHOTAI_CN_MODELS) },
	{ id: "kimi-coding", defaultModel: "kimi-for-coding", variables: ["KIMI_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/kimi-coding.models").then((m) => m.KIMI_CODING_MODELS) },
	{ id: "minimax", defaultModel: "MiniMax-M3", variables: ["MINIMAX_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/minimax.models").then((m) => m.MINIMAX_MODELS) },
	{ id: "minimax-cn", defaultModel: "MiniMax-M3", variables: ["MINIMAX_CN_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/minimax-cn.models").then((m) => m.MINIMAX_CN_MODELS) },
	{ id: "mistral", defaultModel: "mistral-large-latest", variables: ["MISTRAL_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/mistral.models").then((m) => m.MISTRAL_MODELS) },
	{ id: "groq", defaultModel: "openai/gpt-oss-120b", variables: ["GROQ_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/groq.models").then((m) => m.GROQ_MODELS) },
	{ id: "cerebras", defaultModel: "gpt-oss-120b", variables: ["CEREBRAS_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/cerebras.models").then((m) => m.CEREBRAS_MODELS) },
	{ id: "fireworks", defaultModel: "accounts/fireworks/models/glm-5p3", variables: ["FIREWORKS_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/fireworks.models").then((m) => m.FIREWORKS_MODELS) },
	{ id: "together", defaultModel: "zai-org/GLM-5.3", variables: ["TOGETHER_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/together.models").then((m) => m.TOGETHER_MODELS) },
	{ id: "baseten", defaultModel: "zai-org/GLM-5.3", variables: ["BASETEN_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/baseten.models").then((m) => m.BASETEN_MODELS) },
	{ id: "nvidia", defaultModel: "nvidia/nemotron-3-ultra-550b-a55b", variables: ["NVIDIA_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/nvidia.models").then((m) => m.NVIDIA_MODELS) },
	{ id: "meta", defaultModel: "muse-spark-1.3", variables: ["META_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/meta.models").then((m) => m.META_MODELS) },
	{ id: "opencode", defaultModel: "claude-sonnet-5-5", variables: ["OPENCODE_API_KEY"], streams: () => import("@earendil-works/pi-ai/providers/opencode").then((m) => m.opencodeProvider()), catalog: () => import("@earendil-works/pi-ai/providers/opencode.models").then((m) => m.OPENCODE_MODELS) },
	{ id: "opencode-go", defaultModel: "kimi-k3", variables: ["OPENCODE_API_KEY"], streams: () => import("@earendil-works/pi-ai/providers/opencode-go").then((m) => m.opencodeGoProvider()), catalog: () => import("@earendil-works/pi-ai/providers/opencode-go.models").then((m) => m.OPENCODE_GO_MODELS) },
	{ id: "huggingface", defaultModel: "zai-org/GLM-5.2", variables: ["HF_TOKEN"], catalog: () => import("@earendil-works/pi-ai/providers/huggingface.models").then((m) => m.HUGGINGFACE_MODELS) },
	{ id: "xiaomi", defaultModel: "mimo-v2.6-pro", variables: ["XIAOMI_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/xiaomi.models").then((m) => m.XIAOMI_MODELS) },
	{ id: "xiaomi-token-plan-cn", defaultModel: "mimo-v2.6-pro", variables: ["XIAOMI_TOKEN_PLAN_CN_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/xiaomi-token-plan-cn.models").then((m) => m.XIAOMI_TOKEN_PLAN_CN_MODELS) },
	{ id: "xiaomi-token-plan-ams", defaultModel: "mimo-v2.6-pro", variables: ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/xiaomi-token-plan-ams.models").then((m) => m.XIAOMI_TOKEN_PLAN_AMS_MODELS) },
	{ id: "xiaomi-token-plan-sgp", defaultModel: "mimo-v2.6-pro", variables: ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/xiaomi-token-plan-sgp.models").then((m) => m.XIAOMI_TOKEN_PLAN_SGP_MODELS) },
	{ id: "qwen-token-plan", defaultModel: "qwen3.8-max", variables: ["QWEN_TOKEN_PLAN_TEAM_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/qwen-token-plan.models").then((m) => m.QWEN_TOKEN_PLAN_MODELS) },
	{ id: "qwen-token-plan-cn", defaultModel: "qwen3.8-max", variables: ["QWEN_TOKEN_PLAN_TEAM_CN_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/qwen-token-plan-cn.models").then((m) => m.QWEN_TOKEN_PLAN_CN_MODELS) },
	{ id: "qwen-token-plan-individual", defaultModel: "qwen3.8-max", variables: ["QWEN_TOKEN_PLAN_INDIVIDUAL_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/qwen-token-plan-individual.models").then((m) => m.QWEN_TOKEN_PLAN_INDIVIDUAL_MODELS) },
	{ id: "qwen-token-plan-individual-cn", defaultModel: "qwen3.8-max", variables: ["QWEN_TOKEN_PLAN_INDIVIDUAL_CN_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/qwen-token-plan-individual-cn.models").then((m) => m.QWEN_TOKEN_PLAN_INDIVIDUAL_CN_MODELS) },
	{ id: "ant-ling", defaultModel: "Ling-2.6-1T", variables: ["ANT_LING_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/ant-ling.models").then((m) => m.ANT_LING_MODELS) },
	{ id: "radius", defaultModel: "balanced", variables: ["RADIUS_API_KEY"], catalog: () => import("@earendil-works/pi-ai/providers/radius.models").then((m) => m.RADIUS_MODELS) },
	{ id: "azure", defaultModel: "gpt-6.2-sol", variables: ["AZURE_OPENAI_API_KEY"], aliases: ["azure-openai-responses"], catalog: () => import("@earendil-works/pi-ai/providers/azure.models").then((m) => m.AZURE_MODELS) },
	{ id: "cloudflare-ai-gateway", defaultModel: "claude-sonnet-5-5", variables: ["CLOUDFLARE_API_KEY"], streams: () => import("@earendil-works/pi-ai/providers/cloudflare-ai-gateway").then((m) => m.cloudflareAIGatewayProvider()), catalog: () => import("@earendil-works/pi-ai/providers/cloudflare-ai-gateway.models").then((m) => m.CLOUDFLARE_AI_GATEWAY_MODELS) },
	{ id: "cloudflare-workers-ai", defaultModel: "@cf/zai-org/glm-5.3", variables: ["CLOUDFLARE_API_KEY"], streams: () => import("@earendil-works/pi-ai/providers/cloudflare-workers-ai").then((m) => m.cloudflareWorkersAIProvider()), catalog: () => import("@earendil-works/pi-ai/providers/cloudflare-workers-ai.models").then((m) => m.CLOUDFLARE_WORKERS_AI_MODELS) },
	{ id: "google-vertex", defaultModel: "gemini-4-argon", variables: ["GOOGLE_CLOUD_API_KEY"], ambient: "vertex", catalog: () => import("@earendil-works/pi-ai/providers/google-vertex.models").then((m) => m.GOOGLE_VERTEX_MODELS) },
	{ id: "amazon-bedrock", defaultModel: "us.anthropic.claude-sonnet-5-5", variables: [], ambient: "aws", catalog: () => import("@earendil-works/pi-ai/providers/amazon-bedrock.models").then((m) => m.AMAZON_BEDROCK_MODELS) },
	{ id: "github-copilot", variables: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"], catalog: () => import("@earendil-works/pi-ai/providers/github-copilot.models").then((m) => m.GITHUB_COPILOT_MODELS) },
];

/** The environment variable that moves a provider's address: `OPENAI_BASE_URL` beside `OPENAI_API_KEY`. */
export function baseUrlVariable(provider: BuiltinProvider): string | undefined {
	// Azure's and Cloudflare's addresses are put together by their own streams, from variables of their own.
	if (provider.streams || provider.id === "azure") return undefined;
	const key = provider.variables.find((variable) => variable.endsWith("_API_KEY"));
	return key?.replace(/_API_KEY$/, "_BASE_URL");
}

/** The environment variable that an address of the provider is read from, by whoever reads it. */
export function addressVariable(provider: BuiltinProvider): string | undefined {
	return provider.id === "azure" ? "AZURE_OPENAI_BASE_URL" : baseUrlVariable(provider);
}

/** The provider of that id or alias. */
export function findBuiltin(name: string): BuiltinProvider | undefined {
	return BUILTIN_PROVIDERS.find((provider) => provider.id === name || provider.aliases?.includes(name));
}
