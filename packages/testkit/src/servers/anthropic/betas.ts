/** What the Anthropic API takes only where a beta header asks for it, as the SDK's beta types declare it. */

import type { Candidate } from "../rule.ts";
import { isObject } from "../shape.ts";
import type { TypeTable } from "../type-text.ts";

interface Beta {
	/** Its name in `anthropic-beta`. */
	readonly name: string;
	readonly extend: (table: TypeTable) => TypeTable;
}

const BETAS: readonly Beta[] = [
	// https://platform.claude.com/docs/en/build-with-claude/effort-per-message
	{ name: "mid-conversation-output-config-2026-07-01", extend: allowMessageEffort },
	// https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5
	{ name: "thinking-binding-controls-2026-08-01", extend: allowBlockBinding },
];

/** Extends a field list by what the header `anthropic-beta` of a request asks for. */
export function extendByBetas(table: TypeTable): (candidate: Candidate) => TypeTable {
	const known = new Map<string, TypeTable>();
	return ({ headers }) => {
		const asked = String(headers["anthropic-beta"] ?? "").split(/\s*,\s*/);
		const betas = BETAS.filter(({ name }) => asked.includes(name));
		const names = betas.map(({ name }) => name).join();
		const extended = known.get(names) ?? betas.reduce((before, { extend }) => extend(before), table);
		known.set(names, extended);
		return extended;
	};
}

/** Whether a message does nothing but change the effort of the turns after it, and so may be empty. */
export function isEffortChange({ role, output_config }: Record<string, unknown>): boolean {
	return role === "system" && isObject(output_config) && typeof output_config.effort === "string";
}

function allowMessageEffort(table: TypeTable): TypeTable {
	const message = readFields(table, "MessageParam");
	return {
		...table,
		MessageParam: "TurnMessageParam | SystemMessageParam",
		TurnMessageParam: { ...message, role: "'user' | 'assistant'" },
		SystemMessageParam: { ...message, role: "'system'", "output_config?": "SystemMessageOutputConfig | null" },
		SystemMessageOutputConfig: { "effort?": readFields(table, "OutputConfig")["effort?"] ?? "string" },
	};
}

function allowBlockBinding(table: TypeTable): TypeTable {
	const binding = { "block_binding?": "ThinkingBlockBinding | null" };
	return {
		...table,
		ThinkingConfigAdaptive: { ...readFields(table, "ThinkingConfigAdaptive"), ...binding },
		ThinkingConfigEnabled: { ...readFields(table, "ThinkingConfigEnabled"), ...binding },
		ThinkingBlockBinding: { "prefix_mismatch_behavior?": "'error' | 'drop_block' | null" },
	};
}

function readFields(table: TypeTable, name: string): Readonly<Record<string, string>> {
	const fields = table[name];
	if (typeof fields !== "object") throw new Error(`The field list has no object type ${name}.`);
	return fields;
}
