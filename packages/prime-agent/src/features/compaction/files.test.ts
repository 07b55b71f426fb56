import type { AgentMessage } from "@prime-agent/loop";
import { expect, test } from "vitest";
import { collectFiles, type FileList, readFileList } from "./files.ts";

const NONE: FileList = { readFiles: [], modifiedFiles: [] };

function calls(...args: readonly Record<string, unknown>[]): AgentMessage {
	const content = args.map(({ tool = "ipython", ...rest }, n) => ({
		type: "toolCall",
		id: `c${n}`,
		name: tool,
		arguments: rest,
	}));
	return { role: "assistant", content, stopReason: "toolUse" } as unknown as AgentMessage;
}

const ofCode = (code: string) => collectFiles(NONE, [calls({ code })]);

test.each([
	["open('a.txt').read()", "a.txt"],
	['open("dir/a b.txt", encoding="utf8")', "dir/a b.txt"],
	["text = Path('src/a.py').read_text()", "src/a.py"],
	["%%bash\ncat src/a.py | head", "src/a.py"],
	["!head -n 20 README.md", "README.md"],
	["lines = !sed -n 1,20p src/a.py", "src/a.py"],
])("a cell that reads names its file: %s", (code, file) => {
	expect(ofCode(code)).toEqual({ readFiles: [file], modifiedFiles: [] });
});

test.each([
	["%%writefile src/new.py\nprint(1)", "src/new.py"],
	["open('out.json', 'w').write(text)", "out.json"],
	["Path('src/a.py').write_text(text)", "src/a.py"],
	["%%bash\necho hi > out.txt 2>&1", "out.txt"],
	["%%bash\nsed -i 's/a/b/' src/a.py", "src/a.py"],
	["!make 2>/dev/null | tee build.log", "build.log"],
])("a cell that changes names its file: %s", (code, file) => {
	expect(ofCode(code)).toEqual({ readFiles: [], modifiedFiles: [file] });
});

test.each(["x > 5", "%%bash\nmake 2>&1 >/dev/null", "%%bash\ncat $FILE", "f(a)->b", "open(path)"])(
	"code without a literal file names none: %s",
	(code) => {
		expect(ofCode(code)).toEqual(NONE);
	},
);

test("tools with a path count by what they do", () => {
	const messages = [calls({ tool: "read", path: "a" }, { tool: "edit", path: "b" }, { tool: "grep", path: "c" })];
	expect(collectFiles(NONE, messages)).toEqual({ readFiles: ["a"], modifiedFiles: ["b"] });
});

test("lists grow with each compaction, name a file once, and a changed file is not listed as read", () => {
	const before = { readFiles: ["a", "b"], modifiedFiles: ["c"] };
	const messages = [calls({ tool: "write", path: "b" }, { tool: "read", path: "a" }, { tool: "read", path: "d" })];
	expect(collectFiles(before, messages)).toEqual({ readFiles: ["a", "d"], modifiedFiles: ["c", "b"] });
});

test("details that another program wrote are read as far as they are lists of names", () => {
	expect(readFileList({ readFiles: ["a", 1], modifiedFiles: "b" })).toEqual({ readFiles: ["a"], modifiedFiles: [] });
	expect(readFileList(undefined)).toEqual(NONE);
});
