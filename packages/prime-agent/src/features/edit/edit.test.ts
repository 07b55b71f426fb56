import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { EDIT_PROMPT } from "./prompt.ts";

test("the model is told the name and the description that the skill has", async () => {
	const file = resolve(import.meta.dirname, "../../../skills/edit/SKILL.md");
	const [, name, description] = /^---\nname: (.*)\ndescription: (.*)\n---\n/.exec(await readFile(file, "utf8")) ?? [];
	expect(name).toBe("edit");
	expect(EDIT_PROMPT).toContain(`- ${name}: ${description} \`await ${name}(`);
});
