/** Which of the host's environment variables commands get to see. */
export type VariablePolicy = "filtered" | "all" | "none" | "core";

const secretSuffix =
	/(_API_KEY|_SECRET|_TOKEN|_PASSWORD|_CREDENTIAL|_CREDENTIALS|_ACCESS_KEY|_PRIVATE_KEY)$|^(API_KEY|SECRET|TOKEN|PASSWORD)$/i;

const kept = new Set(
	[
		"PATH HOME USER SHELL LANG TERM TMPDIR",
		"GOPATH CARGO_HOME NVM_DIR RUSTUP_HOME JAVA_HOME PYENV_ROOT VIRTUAL_ENV NODE_PATH",
	].flatMap((names) => names.split(" ")),
);

function isKept(name: string): boolean {
	return kept.has(name) || name.startsWith("LC_");
}

function isAllowed(name: string, policy: VariablePolicy): boolean {
	if (policy === "all") return true;
	if (policy === "none") return false;
	return isKept(name) || (policy === "filtered" && !secretSuffix.test(name));
}

/**
 * The environment of a command: the host's variables under `policy`, then `extra`. Under `filtered` (and for `extra`
 * under every policy but `all`) names that end like those of secrets are left out.
 */
export function selectVariables(
	host: Record<string, string | undefined>,
	policy: VariablePolicy,
	extra: Record<string, string> = {},
): Record<string, string> {
	const selected: Record<string, string> = {};
	for (const [name, value] of Object.entries(host)) {
		if (value !== undefined && isAllowed(name, policy)) selected[name] = value;
	}
	for (const [name, value] of Object.entries(extra)) {
		if (isAllowed(name, policy === "all" ? "all" : "filtered")) selected[name] = value;
	}
	return selected;
}
