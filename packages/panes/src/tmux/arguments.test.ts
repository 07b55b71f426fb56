import { describe, expect, it } from "vitest";
import { cleanPaste, escapeLiteral, quoteWord, splitLiteral } from "./arguments.ts";
import { chooseServer } from "./server.ts";
import { checkName, parseTarget } from "./target.ts";

describe("arguments for tmux", () => {
	it("puts a backslash only before a final semicolon", () => {
		expect(["a;b", "a;", ";", "\\;"].map(escapeLiteral)).toEqual(["a;b", "a\\;", "\\;", "\\\\;"]);
	});

	it("splits at code points so that no piece exceeds the limit", () => {
		expect(splitLiteral("aé🙂b", 4)).toEqual(["aé", "🙂", "b"]);
	});

	it("drops control characters from a paste and keeps line ends as LF", () => {
		expect(cleanPaste("a\r\nb\rc\u001b[201~\0d\te\u009b")).toBe("a\nb\nc[201~d\te");
	});

	it("quotes words for a shell only where it is needed", () => {
		expect([quoteWord("a-b=c"), quoteWord("it's"), quoteWord("")]).toEqual(["a-b=c", `'it'\\''s'`, "''"]);
	});

	it("prefers an explicit server, treats an empty one as absent and falls back to the caller's socket", () => {
		const env = { TMUX: "/run/tmux/sock,12,0" };
		expect(chooseServer("work", env)).toEqual({ name: "work" });
		expect(chooseServer("", env)).toEqual({ path: "/run/tmux/sock" });
		expect(chooseServer(undefined, {})).toEqual({});
	});
});

describe("targets", () => {
	it("accepts exact panes, windows and logical names", () => {
		expect(["%3", "@4", "=s:w", "builder"].map((word) => parseTarget(word).kind)).toEqual([
			"pane",
			"window",
			"window",
			"name",
		]);
	});

	it.each(["s:w", "=s:", "=:w", "=a:b:c", "%", ""])("refuses %j as a target", (word) => {
		expect(() => parseTarget(word)).toThrow(/target|name/);
	});

	it.each(["a.b", "a:b", "a b", "-x", "", "$1"])("refuses %j as a session name with a reason", (word) => {
		expect(() => checkName(word)).toThrow(/name/);
	});
});
