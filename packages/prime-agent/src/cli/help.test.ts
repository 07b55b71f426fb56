import { expect, it } from "vitest";
import { COMMANDS, RUN } from "./commands.ts";
import { renderHelp } from "./help.ts";
import { RUN_OPTIONS } from "./options.ts";
import { renderReference } from "./reference.ts";

it("is what the reference page says (vitest -u writes the page anew)", async () => {
	await expect(renderReference()).toMatchFileSnapshot("../../../../docs/reference/cli.md");
});

it("names every option and every command", () => {
	const help = renderHelp(RUN);
	for (const { name } of RUN_OPTIONS.flatMap((group) => group.options)) expect(help).toContain(`--${name}`);
	for (const { words } of COMMANDS) expect(help).toContain(`prime-agent ${words.join(" ")}`);
});

it("gives no two options the same name or letter", () => {
	for (const command of [RUN, ...COMMANDS]) {
		const options = command.options.flatMap((group) => group.options);
		const names = options.flatMap(({ name, short, aliases = [] }) => [
			`--${name}`,
			...(short ? [`-${short}`] : []),
			...aliases,
		]);
		expect(new Set(names).size).toBe(names.length);
	}
});
