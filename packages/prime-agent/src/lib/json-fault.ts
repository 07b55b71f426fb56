const TOKEN =
	/([{}[\]:,])|("(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/uy;
const BLANKS = /[ \t\r\n]*/y;

/** What may come next: a value, a key, the colon after it, or what follows a value; `first` also ends the container. */
type Expected = "value" | "firstValue" | "key" | "firstKey" | "colon" | "after";

/** Where a text stops being JSON, counted from 1; the end of the text when it only stops too early. */
export function findJsonFault(text: string): { readonly line: number; readonly column: number } {
	const before = text.slice(0, findOffset(text)).split("\n");
	return { line: before.length, column: before.at(-1)!.length + 1 };
}

function findOffset(text: string): number {
	const open: string[] = [];
	let expected: Expected = "value";
	let at = 0;
	for (;;) {
		BLANKS.lastIndex = at;
		BLANKS.test(text);
		at = BLANKS.lastIndex;
		TOKEN.lastIndex = at;
		const token = TOKEN.exec(text);
		const next: Expected | undefined = token ? follow(expected, token[1], token[2] !== undefined, open) : undefined;
		if (!token || next === undefined) return at;
		expected = next;
		at += token[0].length;
	}
}

/** What is expected after a token, or undefined where the token must not stand. */
function follow(expected: Expected, mark: string | undefined, isText: boolean, open: string[]): Expected | undefined {
	const isValue = expected === "value" || expected === "firstValue";
	if (mark === undefined) {
		if (isValue) return "after";
		return isText && (expected === "key" || expected === "firstKey") ? "colon" : undefined;
	}
	if (mark === ":") return expected === "colon" ? "value" : undefined;
	if (mark === "{" || mark === "[") {
		if (!isValue) return undefined;
		open.push(mark);
		return mark === "{" ? "firstKey" : "firstValue";
	}
	const container = open.at(-1);
	if (mark === ",") {
		if (expected !== "after" || container === undefined) return undefined;
		return container === "{" ? "key" : "value";
	}
	const isEmpty = expected === (mark === "}" ? "firstKey" : "firstValue");
	if (container !== (mark === "}" ? "{" : "[") || !(expected === "after" || isEmpty)) return undefined;
	open.pop();
	return "after";
}
