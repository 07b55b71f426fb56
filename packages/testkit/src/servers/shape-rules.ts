import type { Candidate, Problem, Rule } from "./rule.ts";
import { findFaults, type ShapeFault } from "./shape.ts";
import type { TypeTable } from "./type-text.ts";

const KINDS = ["missing-field", "unknown-field", "wrong-type", "wrong-value"] as const;

/**
 * The four rules that a request has the declared shape, each saying its first fault in the words of the format. The
 * field list may depend on the request.
 */
export function shapeRules(
	types: TypeTable | ((candidate: Candidate) => TypeTable),
	root: string,
	describe: (fault: ShapeFault) => Problem,
): Rule[] {
	const tableOf = typeof types === "function" ? types : () => types;
	const known = new WeakMap<Candidate, readonly ShapeFault[]>();
	return KINDS.map((kind) => ({
		name: kind,
		check: (candidate) => {
			const faults = known.get(candidate) ?? findFaults(tableOf(candidate), root, candidate.body);
			known.set(candidate, faults);
			const fault = faults.find((each) => each.kind === kind);
			return fault && describe(fault);
		},
	}));
}

/** A field list with fields that servers know beside the official ones, or are less strict about. */
export function extendTypes(table: TypeTable, extensions: Readonly<Record<string, Record<string, string>>>): TypeTable {
	const extended: Record<string, Readonly<Record<string, string>> | string> = { ...table };
	for (const [name, fields] of Object.entries(extensions)) {
		const official = table[name];
		if (typeof official !== "object") throw new Error(`The field list has no object type ${name}.`);
		const replaced = Object.keys(fields).map((field) => field.replace(/\?$/, ""));
		const kept = Object.entries(official).filter(([field]) => !replaced.includes(field.replace(/\?$/, "")));
		extended[name] = { ...Object.fromEntries(kept), ...fields };
	}
	return extended;
}
