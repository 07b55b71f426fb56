import { expect, test } from "vitest";
import { GlobPattern } from "./pattern.ts";

const matching = (pattern: string, ...paths: string[]) => {
	const compiled = new GlobPattern(pattern);
	return paths.filter((path) => compiled.matches(path));
};

test.each([
	["*.ts", ["a.ts", "sub/b.ts", ".c.ts", "a.tsx"], ["a.ts"]],
	["**/*.ts", ["a.ts", "sub/b.ts", "x/y/z.ts", ".git/a.ts"], ["a.ts", "sub/b.ts", "x/y/z.ts"]],
	["**", ["a", "b/c", ".d"], ["a", "b/c"]],
	["src/**", ["src/a", "src", "x/src/a"], ["src/a", "src"]],
	["a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/c", "a/b/x"], ["a/b/c", "a/x/b/y/z/c"]],
	["a?c", ["abc", "a/c", "ac", "a😀c"], ["abc", "a😀c"]],
	["[a-c]x[!0-9]", ["axa", "dxa", "bx1", "cx😀"], ["axa", "cx😀"]],
	["{a,b{1,2}}.js", ["a.js", "b1.js", "b2.js", "b.js"], ["a.js", "b1.js", "b2.js"]],
	["\\*.md", ["*.md", "a.md"], ["*.md"]],
	["a*b*c", ["abc", "aXbYc", "acb", "abcbc"], ["abc", "aXbYc", "abcbc"]],
	[".*/[.]x", [".a/.x", "a/.x"], []],
	["\\.a/.b*", [".a/.b", ".a/.bc", "a/b"], [".a/.b", ".a/.bc"]],
	["a😀*", ["a😀b", "ab"], ["a😀b"]],
])("%s finds what it names", (pattern, paths, found) => {
	expect(matching(pattern, ...paths)).toEqual(found);
});

test("folders in which nothing can match need not be entered", () => {
	const pattern = new GlobPattern("src/*/deep/**/x.ts");
	const folders = ["src", "src/a", "src/a/deep", "src/a/deep/er/still", "lib", "src/a/other"];
	expect(folders.filter((folder) => pattern.canMatchBelow(folder))).toEqual(folders.slice(0, 4));
});

test("no pattern goes through all ways of dividing a name or a path among its stars", () => {
	const name = "a".repeat(250);
	expect(matching(`${"*a".repeat(20)}*b`, name)).toEqual([]);
	const path = Array(120).fill("a").join("/");
	expect(matching(`${"**/a/".repeat(20)}b`, path)).toEqual([]);
});
