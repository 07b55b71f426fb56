import { expect, it } from "vitest";
import { programOf } from "./program.ts";

it("the program of a shell line is its first word behind exec and assignments", () => {
	const lines = ["codex -m x", " exec codex", "A=1 B_2=a/b exec /opt/my-bin/codex", "./codex", 'codex; exec "$SHELL"'];
	expect(lines.map(programOf)).toEqual(["codex", "codex", "/opt/my-bin/codex", "./codex", "codex"]);
});

it("a line whose program only a shell can tell has none", () => {
	const lines = [
		"'my codex' -x",
		"$HOME/codex",
		"~/codex",
		"PATH=/opt codex",
		'A="b c" codex',
		"(codex)",
		"a$b",
		"a|b",
		"",
	];
	expect(lines.map(programOf)).toEqual(lines.map(() => undefined));
});
