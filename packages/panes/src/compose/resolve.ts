import { type Fill, ROLES, type Role } from "../clis/cli.ts";
import { PaneError } from "../errors.ts";
import { composeCommand, fillModeOf } from "./command.ts";

/** A named way to run an agent CLI, after all layers of configuration are merged. */
export interface Provider {
	readonly interactive?: string | undefined;
	readonly headless?: string | undefined;
	readonly isNative: boolean;
	readonly fills: Readonly<Partial<Record<Role, Fill>>>;
	readonly skillPrefix: string;
}

/** Everything that a resolution depends on. */
export interface AgentTable {
	readonly providers: ReadonlyMap<string, Provider>;
	/** Provider of the roles default and operator. */
	readonly session: Sourced;
	/** Provider of the other roles. */
	readonly workers: Sourced;
	readonly pins: Readonly<Partial<Record<Role, { provider?: string; model?: string; effort?: string }>>>;
}

/** A value with the place it came from, for `-o`. */
export interface Sourced {
	readonly value: string;
	readonly source: string;
}

/** How an agent is asked for. A flag that is present but empty is not the same as an absent one. */
export interface AgentRequest {
	readonly selector?: string | undefined;
	readonly provider?: string | undefined;
	readonly model?: string | undefined;
	readonly effort?: string | undefined;
}

/** The resolved provider, model and effort with their sources. */
export interface ResolvedAgent {
	readonly selector: string;
	readonly kind: "role" | "stage" | "provider";
	readonly role: Role | "";
	readonly providerName: string;
	readonly provider: Provider;
	readonly model: string;
	readonly effort: string;
	readonly source: { readonly provider: string; readonly model: string; readonly effort: string };
}

const STAGES: Readonly<Record<string, Role>> = {
	intake: "default",
	apply: "doing",
	review: "review",
	hydrate: "hydrate",
	ship: "fast",
	"review-pr": "doing",
};

const SESSION_ROLES: readonly Role[] = ["default", "operator"];

/** Resolves a request: `--provider` alone bypasses roles and fills, everything else walks the rungs field by field. */
export function resolveAgent(table: AgentTable, request: AgentRequest): ResolvedAgent {
	if (request.selector === undefined && request.provider !== undefined) {
		return resolveProvider(table, request.provider, request);
	}
	const selector = request.selector ?? "default";
	return resolveRole(table, selector, request);
}

/** Resolves one role with the provider pinned, so that the provider's own fills apply. */
export function resolvePinned(table: AgentTable, provider: string, role: string): ResolvedAgent {
	return resolveRole(table, role, { provider });
}

function resolveProvider(table: AgentTable, name: string, request: AgentRequest): ResolvedAgent {
	return {
		...{ selector: name, kind: "provider", role: "", providerName: name, provider: findProvider(table, name) },
		...{ model: request.model ?? "", effort: request.effort ?? "" },
		source: { provider: "flag", model: flagSource(request.model), effort: flagSource(request.effort) },
	};
}

function resolveRole(table: AgentTable, selector: string, request: AgentRequest): ResolvedAgent {
	const isRole = (ROLES as readonly string[]).includes(selector);
	const role = isRole ? (selector as Role) : STAGES[selector];
	if (role === undefined) {
		throw new PaneError(
			"unknown_selector",
			`unknown selector "${selector}". Roles: ${ROLES.join(", ")}. Stages: ${Object.keys(STAGES).join(", ")}.`,
		);
	}
	const pin = table.pins[role];
	const knob = SESSION_ROLES.includes(role) ? table.session : table.workers;
	const chosen: Sourced =
		request.provider !== undefined
			? { value: request.provider, source: "flag" }
			: pin?.provider
				? { value: pin.provider, source: `agent.profiles.${role}.provider` }
				: knob;
	const provider = findProvider(table, chosen.value);
	const field = (name: "model" | "effort"): Sourced => {
		const flag = request[name];
		if (flag !== undefined) return { value: flag, source: "flag" };
		if (pin?.[name]) return { value: pin[name] ?? "", source: `agent.profiles.${role}.${name}` };
		const own = provider.fills[role]?.[name];
		if (own) return { value: own, source: `providers.${chosen.value}.profiles.${role}` };
		const base = provider.fills.default?.[name];
		return base ? { value: base, source: `providers.${chosen.value}.profiles.default` } : { value: "", source: "none" };
	};
	const model = field("model");
	const effort = field("effort");
	return {
		...{ selector, kind: isRole ? "role" : "stage", role, providerName: chosen.value, provider },
		...{ model: model.value, effort: effort.value },
		source: { provider: chosen.source, model: model.source, effort: effort.source },
	};
}

/** The template that a resolved agent runs; throws `PaneError` naming the configuration key when there is none. */
export function templateOf(agent: ResolvedAgent, form: "interactive" | "headless"): string {
	const template = form === "interactive" ? agent.provider.interactive : agent.provider.headless;
	if (template) return template;
	throw new PaneError(
		"no_capability",
		`provider "${agent.providerName}" has no ${form} command; set providers.${agent.providerName}.${form}_command`,
	);
}

/** The command line that a resolved agent runs. */
export function commandOf(agent: ResolvedAgent, form: "interactive" | "headless"): string {
	return composeCommand(templateOf(agent, form), agent);
}

/** The resolved agent as one document; its keys and their order are part of the interface. */
export function describeAgent(agent: ResolvedAgent, form: "interactive" | "headless"): Record<string, unknown> {
	const template = templateOf(agent, form);
	const dispatch = agent.provider.isNative
		? {}
		: { dispatch: { rung: "headless", command: agent.provider.headless ? commandOf(agent, "headless") : "" } };
	return {
		selector: agent.selector,
		kind: agent.kind,
		role: agent.role,
		provider: agent.providerName,
		model: agent.model,
		effort: agent.effort,
		command: composeCommand(template, agent),
		model_alias: agent.model,
		template,
		fill_mode: fillModeOf(template),
		source: agent.source,
		...dispatch,
		skill_prefix: agent.provider.skillPrefix,
	};
}

function findProvider(table: AgentTable, name: string): Provider {
	const provider = table.providers.get(name);
	if (provider !== undefined) return provider;
	const names = [...table.providers.keys()].sort().join(", ");
	throw new PaneError(
		"unknown_provider",
		`unknown provider "${name}". Available: ${names}. Define one under providers.${name === "" ? "<name>" : name}.`,
	);
}

function flagSource(flag: string | undefined): string {
	return flag === undefined ? "none" : "flag";
}
