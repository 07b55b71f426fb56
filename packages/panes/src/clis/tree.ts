/** A part of a configuration file before anything is known about its shape. */
export type Tree = Readonly<Record<string, unknown>>;

/** A value as a part with keys; anything else counts as an empty one. */
export function asTree(value: unknown): Tree {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}
