import { resolve as resolvePath } from "node:path";
import { installSkills, readSkill, SKILLS } from "../clis/skills.ts";
import type { Command } from "./command.ts";
import { usage } from "./parse.ts";

/** `agent-tmux skill` */
export const skill: Command = {
	spec: {
		name: "skill",
		form: "[NAME] | --install DIR",
		summary: `Print a skill (${SKILLS.join(", ")}), or install all of them into a folder of skills.`,
		flags: { install: { value: "DIR", help: "folder such as .claude/skills" } },
		arity: [0, 1],
	},
	run: async (line, world) => {
		const folder = line.text("install");
		if (folder !== undefined) {
			if (line.positionals.length > 0) throw usage(skill.spec, "--install takes all skills");
			world.print(installSkills(resolvePath(world.cwd, folder)).join("\n"));
			return 0;
		}
		const [given = "agent-tmux"] = line.positionals;
		const name = SKILLS.find((each) => each === given);
		if (name === undefined) throw usage(skill.spec, `unknown skill "${given}"`);
		world.print(readSkill(name).trimEnd());
		return 0;
	},
};
