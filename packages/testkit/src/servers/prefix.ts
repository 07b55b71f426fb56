/** Whether one recorded request continues another one, so that the provider's prompt cache can serve it. */

import type { RecordedRequest } from "./request.ts";
import { isObject } from "./shape.ts";

/** How far two requests agree from their beginning. */
export interface PrefixReport {
	/** True when everything of the first request leads the second one, unchanged. */
	readonly isPrefix: boolean;
	/** Messages that are the same in both, counted from the first. */
	readonly shared: number;
	/** The first difference in words. */
	readonly difference?: string;
}

const LISTS = ["messages", "input", "contents"];
const FIXED = ["system", "instructions", "systemInstruction", "tools"];

/**
 * Compares system prompt, tools and messages of two requests byte for byte. Members named in `ignore` (such as
 * `cache_control`, which moves along) are taken out first wherever they stand; a list of one plain text that is left
 * then counts as that text, as servers read both alike.
 */
export function sharedPrefix(
	first: Pick<RecordedRequest, "raw">,
	second: Pick<RecordedRequest, "raw">,
	options: { readonly ignore?: readonly string[] } = {},
): PrefixReport {
	const clean = (text: string) => (options.ignore ? withoutMembers(text, options.ignore) : text);
	const [a, b] = [sliceMembers(first.raw), sliceMembers(second.raw)];
	const list = LISTS.find((name) => a.has(name)) ?? "messages";
	const [before, after] = [sliceItems(a.get(list) ?? "[]").map(clean), sliceItems(b.get(list) ?? "[]").map(clean)];
	const same = before.findIndex((item, index) => item !== after[index]);
	const shared = same < 0 ? before.length : same;
	const moved = FIXED.find((name) => clean(a.get(name) ?? "null") !== clean(b.get(name) ?? "null"));
	if (moved) {
		const difference = describeDifference(moved, clean(a.get(moved) ?? ""), clean(b.get(moved) ?? ""));
		return { isPrefix: false, shared, difference };
	}
	if (shared === before.length) return { isPrefix: true, shared };
	const difference = describeDifference(`${list}[${shared}]`, before[shared] ?? "", after[shared] ?? "");
	return { isPrefix: false, shared, difference };
}

/** The members of a JSON object, each value as its own text. */
function sliceMembers(text: string): Map<string, string> {
	return new Map(
		sliceItems(text).map((member) => {
			const end = endOfString(member, 0);
			const name: unknown = JSON.parse(member.slice(0, end));
			return [String(name), member.slice(member.indexOf(":", end) + 1).trim()];
		}),
	);
}

/** What stands between the commas of a JSON list or object. */
function sliceItems(text: string): string[] {
	const inner = text.trim().slice(1, -1);
	if (inner.trim() === "") return [];
	const items: string[] = [];
	let depth = 0;
	let from = 0;
	for (let at = 0; at < inner.length; at += 1) {
		const char = inner[at] ?? "";
		if (char === '"') at = endOfString(inner, at) - 1;
		else if (char === "{" || char === "[") depth += 1;
		else if (char === "}" || char === "]") depth -= 1;
		else if (char === "," && depth === 0) {
			items.push(inner.slice(from, at).trim());
			from = at + 1;
		}
	}
	return [...items, inner.slice(from).trim()];
}

/** The position after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
	let at = from + 1;
	while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
	return at + 1;
}

function withoutMembers(text: string, names: readonly string[]): string {
	const strip = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(strip);
		if (!isObject(value)) return value;
		const kept = Object.entries(value).filter(([name]) => !names.includes(name));
		return Object.fromEntries(
			kept.map(([name, item]) => [name, name === "content" ? plainText(strip(item)) : strip(item)]),
		);
	};
	return JSON.stringify(strip(JSON.parse(text)));
}

/** The text of a list that holds one text block and nothing else, everything else as it is. */
function plainText(content: unknown): unknown {
	const only = Array.isArray(content) && content.length === 1 ? content[0] : undefined;
	const isPlain = isObject(only) && only.type === "text" && Object.keys(only).length === 2;
	return isPlain && typeof only.text === "string" ? only.text : content;
}

function describeDifference(where: string, before: string, after: string): string {
	let at = 0;
	while (at < before.length && before[at] === after[at]) at += 1;
	const from = Math.max(0, at - 30);
	return `${where} differs at ${at}: ${before.slice(from, at + 50)} → ${after.slice(from, at + 50)}`;
}
