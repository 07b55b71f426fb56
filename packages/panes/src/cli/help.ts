import type { CommandSpec } from "./command.ts";
import { COMMANDS, GROUPS } from "./index.ts";

/** The overview that `--help` prints. */
export function overview(): string {
	const width = Math.max(...COMMANDS.map((command) => command.name.length));
	const lines = [
		"agent-tmux - drive interactive agent CLIs in tmux",
		"",
		"usage: agent-tmux <command> [arguments]",
		"",
	];
	for (const [group, title] of Object.entries(GROUPS)) {
		lines.push(`${title}:`);
		for (const command of COMMANDS) {
			if (command.group === group) lines.push(`  ${command.name.padEnd(width)}  ${command.summary}`);
		}
		lines.push("");
	}
	lines.push(
		"A target is a session name, or exactly %PANE, @WINDOW or =session:window.",
		"Details: agent-tmux <command> --help. The whole procedure: agent-tmux skill.",
	);
	return lines.join("\n");
}

/** The help of one command. */
export function commandHelp(spec: CommandSpec): string {
	const lines = [`usage: agent-tmux ${spec.name} ${spec.form}`.trimEnd(), "", spec.summary, ""];
	const names = Object.entries(spec.flags).map(([name, flag]) => {
		const value = flag.value === undefined ? "" : flag.bare === undefined ? ` ${flag.value}` : `[=${flag.value}]`;
		return [`${flag.short === undefined ? "    " : `-${flag.short}, `}--${name}${value}`, flag.help] as const;
	});
	const width = Math.max(0, ...names.map(([name]) => name.length));
	for (const [name, help] of names) lines.push(`  ${name.padEnd(width)}  ${help}`);
	if (spec.notes !== undefined) lines.push("", ...spec.notes);
	return lines.join("\n").trimEnd();
}
