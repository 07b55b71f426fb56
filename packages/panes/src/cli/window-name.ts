import { callOptions } from "../drive/context.ts";
import { openPaneIO } from "../drive/pane-io.ts";
import { renameWindow } from "../tmux/session.ts";
import type { Command } from "./command.ts";
import { makeDrive, printResult, SERVER_FLAGS } from "./drive.ts";
import { usage } from "./parse.ts";
import { resolveTarget } from "./target.ts";

/** `agent-tmux window-name` */
export const windowName: Command = {
	spec: {
		name: "window-name",
		form: "(ensure-prefix TARGET PREFIX | replace-prefix TARGET OLD NEW)",
		summary: "Put a prefix before the name of a pane's window, or replace the one that stands there.",
		flags: SERVER_FLAGS,
		arity: [3, 4],
		notes: [
			"A window that has the prefix already, or that somebody gave another name, keeps it: exit 0, `kept`.",
			"Exit 2: no such pane, 3: tmux failed.",
		],
	},
	run: async (line, world) => {
		const [verb = "", target = "", prefix = "", next] = line.positionals;
		const isReplace = verb === "replace-prefix";
		if (!isReplace && verb !== "ensure-prefix") throw usage(windowName.spec, `unknown verb "${verb}"`);
		if (isReplace !== (next !== undefined)) {
			throw usage(windowName.spec, isReplace ? "replace-prefix needs OLD and NEW" : "ensure-prefix takes one prefix");
		}
		if (prefix === "") throw usage(windowName.spec, "the prefix is empty");
		if (/\p{Cc}/u.test(`${prefix}${next}`)) throw usage(windowName.spec, "the prefix holds a control character");
		const drive = makeDrive(line, world);
		const pane = await resolveTarget(drive, target);
		const { values } = await openPaneIO(drive, pane.id).frame({ formats: ["#{window_name}"] });
		const name = values[0] ?? "";
		const wanted = isReplace ? replacePrefix(name, prefix, next ?? "") : ensurePrefix(name, prefix);
		const isRenamed = wanted !== name;
		if (isRenamed) await renameWindow(drive.tmux, pane.windowId, wanted, callOptions(drive));
		printResult(
			line,
			world,
			{ pane: pane.id, window_id: pane.windowId, name: wanted, renamed: isRenamed },
			`${isRenamed ? "renamed" : "kept"} ${pane.windowId} ${wanted}`,
		);
		return 0;
	},
};

function ensurePrefix(name: string, prefix: string): string {
	return name.startsWith(prefix) ? name : `${prefix}${name}`;
}

/** A name without the old prefix was chosen by a person since. */
function replacePrefix(name: string, old: string, next: string): string {
	return name.startsWith(old) ? `${next}${name.slice(old.length)}` : name;
}
