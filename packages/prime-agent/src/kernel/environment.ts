import type { Environment } from "../platform/paths.ts";

/** What a kernel gets, and the names of what it does not get. */
export interface FilteredEnvironment {
	readonly env: Readonly<Record<string, string>>;
	/** Sorted names of variables that were left out because they look like credentials. */
	readonly leftOut: readonly string[];
}

/** Variables whose every name with this prefix belongs to a model provider or a cloud account. */
const PROVIDERS = [
	"ANTHROPIC",
	"OPENAI",
	"GEMINI",
	"AZURE_OPENAI",
	"BEDROCK",
	"CEREBRAS",
	"COPILOT",
	"DEEPSEEK",
	"FIREWORKS",
	"GROQ",
	"HF",
	"HUGGINGFACE",
	"HUGGING_FACE",
	"KIMI",
	"MINIMAX",
	"MISTRAL",
	"MOONSHOT",
	"OPENROUTER",
	"PERPLEXITY",
	"PRIME",
	"TOGETHER",
	"XAI",
	"ZAI",
];
const PROVIDER = new RegExp(`^(${PROVIDERS.join("|")})_.*(KEY|TOKEN|SECRET|AUTH|PASS)`, "i");

/** Endings and parts that mean a credential; the ending rule keeps TOKENIZERS_PARALLELISM, PATH, PWD and the like. */
const NAMES: readonly RegExp[] = [
	/(KEY|KEY_ID|TOKENS?|_PAT|_PASS|_AUTH|_PWD|_COOKIE)$/i,
	/_(TOKEN|KEY)_/i,
	/SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|API_KEY|BEARER/i,
];
const HARMLESS: ReadonlySet<string> = new Set(["SSH_AUTH_SOCK", "OLDPWD", "PWD"]);

/** Values that are credentials whatever their name. */
const VALUE =
	/^(sk-[\w-]{16,}|sk_live_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA[0-9A-Z]{12}|hf_\w{16}|-----BEGIN [A-Z ]*PRIVATE KEY)/;

/** The environment without anything that looks like a credential, except names in `pass`. */
export function filterEnvironment(env: Environment, pass: readonly string[] = []): FilteredEnvironment {
	const kept: Record<string, string> = {};
	const leftOut: string[] = [];
	for (const [name, value] of Object.entries(env)) {
		if (value === undefined) continue;
		if (pass.includes(name) || !isCredential(name, value)) kept[name] = value;
		else leftOut.push(name);
	}
	return { env: kept, leftOut: leftOut.sort() };
}

function isCredential(name: string, value: string): boolean {
	if (HARMLESS.has(name) || value === "") return false;
	return PROVIDER.test(name) || NAMES.some((pattern) => pattern.test(name)) || VALUE.test(value);
}
