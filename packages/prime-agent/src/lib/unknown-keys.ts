import { suggest } from "./edit-distance.ts";

/**
 * A sentence for each key that nobody reads, with the one that was probably meant. Keys that begin with `$`, `_` or
 * `/` are what people and editors note for themselves.
 */
export function describeUnknown(keys: readonly string[], known: readonly string[]): string[] {
	return keys
		.filter((key) => !known.includes(key) && !/^[$_/]/.test(key))
		.map((key) => `"${key}" is not known. ${suggest(key, known)}`.trimEnd());
}
