/** Providers whose logins `login.ts` can renew; the list stands apart, because their code is needed by few starts. */
export const RENEWABLE = [
	"anthropic",
	"github-copilot",
	"kimi-coding",
	"meta",
	"openai",
	"openai-codex",
	"radius",
	"xai",
] as const;

/** Whether an expired login of the provider can be renewed. */
export function canRenew(provider: string): provider is (typeof RENEWABLE)[number] {
	return (RENEWABLE as readonly string[]).includes(provider);
}
