import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../clis/config.ts";
import { appendArguments, composeCommand } from "./command.ts";
import { type AgentRequest, commandOf, describeAgent, resolveAgent, templateOf } from "./resolve.ts";
import { withShellFallback } from "./shell.ts";

let home: string;
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "config-"));
	mkdirSync(join(home, "project", ".git"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function load(
	options: { user?: string; project?: string; env?: NodeJS.ProcessEnv; trustProject?: boolean } = {},
) {
	const warnings: string[] = [];
	const folder = join(home, ".config", "agent-tmux");
	mkdirSync(folder, { recursive: true });
	if (options.user !== undefined) writeFileSync(join(folder, "config.yaml"), options.user);
	if (options.project !== undefined) writeFileSync(join(home, "project", ".agent-tmux.yaml"), options.project);
	const config = await loadConfig({
		cwd: join(home, "project"),
		env: { HOME: home, ...options.env },
		warn: (message) => warnings.push(message),
		trustProject: options.trustProject,
	});
	const resolve = (request: AgentRequest) => resolveAgent(config.table, request);
	const print = (request: AgentRequest, form: "interactive" | "headless" = "interactive") =>
		commandOf(resolve(request), form);
	return { ...config, resolve, print, warnings };
}

describe("composing a command", () => {
	it("drops everything that a provider without values does not need (T1, T4, T5)", async () => {
		const { print } = await load();
		expect(print({ provider: "codex" })).toBe("codex --dangerously-bypass-approvals-and-sandbox");
		expect(print({ provider: "kimi" })).toBe("kimi --auto");
		expect(print({ provider: "kimi" }, "headless")).toBe(`sh -c 'kimi -p "$(cat)"'`);
	});

	it("fills model and effort, alone or together (T2, T3)", async () => {
		const { print } = await load();
		expect(print({ provider: "codex", model: "m", effort: "high" })).toBe(
			"codex --dangerously-bypass-approvals-and-sandbox -m m -c model_reasoning_effort=high",
		);
		expect(print({ provider: "codex", model: "m" })).toBe("codex --dangerously-bypass-approvals-and-sandbox -m m");
	});

	it("does not inject an effort that the CLI has no flag for (T6)", async () => {
		expect((await load()).print({ provider: "agy", effort: "high", model: "g" })).not.toContain("high");
	});

	it("keeps the shell expansion of the session name (T7)", async () => {
		const { print, resolve } = await load();
		const command = print({ selector: "apply" });
		expect(command).toContain('-n "$(basename "$(pwd)")"');
		expect(command).toContain(`--model ${resolve({ selector: "apply" }).model}`);
	});

	it("appends flags to a template without placeholders (T21)", () => {
		expect(composeCommand("mycli", { model: "m", effort: "e" })).toBe("mycli --model m --effort e");
		expect(composeCommand("mycli", { effort: "e" })).toBe("mycli --effort e");
	});

	it("keeps the template's blanks when all values are there and collapses them when one is missing (T22, T23)", () => {
		expect(composeCommand("a  -m {model}   b", { model: "x" })).toBe("a  -m x   b");
		expect(composeCommand("a  -m {model}   b", {})).toBe("a b");
	});

	it("drops a flag that holds its empty value, and nothing before it (T24)", () => {
		expect(composeCommand("a --x --model={model}", {})).toBe("a --x");
		expect(composeCommand("a y --model={model}", {})).toBe("a y");
		expect(composeCommand("a --x -c effort={effort}", {})).toBe("a --x");
	});

	it("quotes a value that a shell would read", () => {
		expect(composeCommand("a -m {model}", { model: "x; rm -rf y" })).toBe("a -m 'x; rm -rf y'");
	});

	it("passes further arguments through a shell as they are (T20)", () => {
		const command = appendArguments("printf '[%s]'", ["two words", "$(x);"]);
		expect(execFileSync("sh", ["-c", command], { encoding: "utf8" })).toBe("[two words][$(x);]");
	});

	it("wraps a command so that a shell takes over (T27)", () => {
		expect(withShellFallback("x")).toBe('x; exec "$SHELL"');
		const root = fileURLToPath(new URL("../", import.meta.url));
		const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
		const spelled = sources.filter((name) => readFileSync(join(root, name), "utf8").includes(`exec ${'"$SHELL"'}`));
		expect(spelled.filter((name) => !name.endsWith(".test.ts"))).toEqual(["compose/shell.ts"]);
	});
});

describe("resolving an agent", () => {
	it("takes a role's model and effort from the chosen provider's own fills (T8)", async () => {
		const { resolve } = await load();
		const apply = resolve({ selector: "apply", provider: "codex" });
		const base = resolve({ selector: "default", provider: "codex" });
		expect(apply.model).toBe(base.model);
		expect(apply.source).toMatchObject({
			model: "providers.codex.profiles.default",
			effort: "providers.codex.profiles.doing",
		});
	});

	it("sends the session roles and the worker roles to different providers (T9)", async () => {
		const { resolve } = await load({ user: "agent: { workers: codex }" });
		expect(resolve({ selector: "review" }).providerName).toBe("codex");
		expect(resolve({ selector: "operator" }).providerName).toBe("claude");
	});

	it("keeps a pinned model when the provider is swapped (T10)", async () => {
		const { resolve } = await load({ user: "agent: { profiles: { doing: { model: pin } } }" });
		expect(resolve({ selector: "apply", provider: "codex" }).model).toBe("pin");
	});

	it("clears a field with an empty flag and does not fall through to a fill (T11)", async () => {
		const { print } = await load();
		expect(print({ selector: "apply", model: "" })).not.toContain("--model");
	});

	it.each([
		["", "providers.<name>"],
		["bogus", "agy, claude, codex, copilot, gemini, kimi, mine, opencode, pi, qwen"],
	])("names the providers for the unknown provider %j (T12, T13)", async (provider, words) => {
		const { resolve } = await load({ user: "providers: { mine: { headless_command: mine } }" });
		expect(() => resolve({ provider })).toThrow(words);
	});

	it("names roles and stages for an unknown selector (T14)", async () => {
		const { resolve } = await load();
		expect(() => resolve({ selector: "nonsense" })).toThrow(/default, operator.*intake, apply/);
	});

	it("names the key of a command that a provider lacks (T15)", async () => {
		const { resolve, print } = await load({ user: "providers: { mine: { headless_command: mine } }" });
		expect(() => templateOf(resolve({ provider: "mine" }), "interactive")).toThrow(
			"providers.mine.interactive_command",
		);
		expect(print({ provider: "mine" }, "headless")).toBe("mine");
	});

	it("describes a stage with keys in a fixed order (T19)", async () => {
		const { resolve } = await load();
		const document = describeAgent(resolve({ selector: "ship", provider: "codex" }), "interactive");
		expect(Object.keys(document)).toEqual([
			...["selector", "kind", "role", "provider", "model", "effort", "command", "model_alias", "template"],
			...["fill_mode", "source", "dispatch", "skill_prefix"],
		]);
		expect(document).toMatchObject({ kind: "stage", role: "fast", fill_mode: "template", skill_prefix: "$" });
		expect(describeAgent(resolve({ selector: "ship" }), "interactive")).not.toHaveProperty("dispatch");
	});

	it("reaches with a flat model every role that ships none of its own (T25)", async () => {
		const { resolve } = await load({ user: "providers: { codex: { model: z } }" });
		const model = (selector: string) => resolve({ selector, provider: "codex" }).model;
		expect(["default", "doing", "review", "hydrate"].map(model)).toEqual(["z", "z", "z", "z"]);
		expect(["operator", "fast"].map(model)).not.toContain("z");
	});

	it("lets the environment outrank the project, the project the user and the user the built-in (T26)", async () => {
		const files = { user: "agent: { workers: pi, session: pi }", project: "agent: { workers: codex, session: '' }" };
		expect((await load(files)).resolve({ selector: "doing" }).providerName).toBe("codex");
		expect((await load(files)).resolve({ selector: "default" }).providerName).toBe("pi");
		const env = { AGENT_TMUX_AGENT_WORKERS: "kimi" };
		expect((await load({ ...files, env })).resolve({ selector: "doing" }).providerName).toBe("kimi");
		expect(
			(await load({ ...files, env: { AGENT_TMUX_AGENT_WORKERS: "" } })).resolve({ selector: "doing" }).providerName,
		).toBe("codex");
	});

	it("ignores commands of the project's file until the project is trusted", async () => {
		const project = "providers: { claude: { interactive_command: evil, model: m } }\ndispatch: { dir: /etc }";
		const careful = await load({ project });
		expect(careful.print({ provider: "claude" })).toContain("claude --dangerously");
		expect(careful.warnings).toEqual([
			expect.stringContaining("--trust-project"),
			expect.stringContaining("dispatch.dir"),
		]);
		expect(careful.dispatch.dir).toBe(".agent-dispatch");
		expect((await load({ project, trustProject: true })).print({ provider: "claude" })).toBe("evil");
	});

	it("warns about an unknown key and refuses a file that is no YAML", async () => {
		expect((await load({ user: "agnet: {}" })).warnings).toEqual([expect.stringContaining("agnet")]);
		await expect(load({ user: "agent: [" })).rejects.toMatchObject({ code: "config" });
	});

	it("reads sizes of dispatch, and keeps its own where one is no size", async () => {
		const { dispatch, warnings } = await load({ user: "dispatch: { min_cols: 60, min_rows: tall }" });
		expect(dispatch.floor).toEqual({ columns: 60, rows: 20 });
		expect(warnings).toEqual([expect.stringContaining("min_rows")]);
	});

	it("reads an unknown dispatch mode as native with a warning", async () => {
		const { dispatch, warnings } = await load({ user: "dispatch: { mode: sideways }" });
		expect(dispatch.mode).toBe("native");
		expect(warnings).toEqual([expect.stringContaining("sideways")]);
	});
});
