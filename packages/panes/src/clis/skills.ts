import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "./folder.ts";

/** Names of the skills that come with the package. */
export const SKILLS = ["agent-tmux", "cli-agents"] as const;

/** The text of a skill. */
export function readSkill(name: (typeof SKILLS)[number]): string {
	return readFileSync(join(findFolder(), name, "SKILL.md"), "utf8");
}

/** Copies all skills into a folder, each in a folder of its name, and returns the paths. */
export function installSkills(folder: string): string[] {
	return SKILLS.map((name) => {
		const path = join(folder, name, "SKILL.md");
		makeFolder(join(folder, name));
		writeFileSync(path, readSkill(name));
		return path;
	});
}

/** A bundle carries the skills beside its code, the sources have them beside `src`. */
function findFolder(): string {
	const beside = fileURLToPath(new URL("./skills", import.meta.url));
	return existsSync(join(beside, "agent-tmux")) ? beside : fileURLToPath(new URL("../../skills", import.meta.url));
}
