import { expect, it } from "vitest";
import { cleanForTerminal, TerminalCleaner } from "./terminal-text.ts";

it.each([
	["plain\ttext\n€ 漢字 😀", "plain\ttext\n€ 漢字 😀"],
	["\u001b[31mred\u001b[0m", "red"],
	["\u001b]0;title\u0007text", "text"],
	["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
	["\u001bPdcs\u001b\\text", "text"],
	["\u001b(Btext", "text"],
	["\u009b31mred", "red"],
	["\u009d0;title\u009ctext", "text"],
	["a\rb\u0008c\u0007d\u007fe", "abcde"],
	["abc\u202edef\u2066g", "abcdefg"],
	["\u001b]0;never ended\nnext line", "\nnext line"],
	["\u001b", ""],
])("makes %j harmless", (text, clean) => {
	expect(cleanForTerminal(text)).toBe(clean);
});

it("finds sequences wherever the text is cut", () => {
	const text = "a\u001b[1;31mb\u001b]52;c;aGk=\u0007c\u001b[0m";
	for (let cut = 0; cut <= text.length; cut++) {
		const cleaner = new TerminalCleaner();
		expect(cleaner.clean(text.slice(0, cut)) + cleaner.clean(text.slice(cut))).toBe("abc");
	}
});
