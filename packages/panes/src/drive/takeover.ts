import { execFile } from "node:child_process";
import type { PaneInfo } from "../tmux/pane.ts";
import { isShell, type ProcessNode, readProcessTree, walkTree } from "./processes.ts";

/** Who would receive what is typed into a pane: a program, a shell's prompt, or the kernel that only echoes. */
export type Owner = "program" | "shell-foreground" | "cooked-tty";

/**
 * Says who owns a pane. A program that is still starting leaves the terminal cooked: the kernel echoes what is typed
 * and throws it away when the program takes over, so nothing may be typed then.
 */
export async function findOwner(
	pane: Pick<PaneInfo, "command" | "pid" | "tty">,
	read: {
		tree?: (pid: number) => Promise<ProcessNode | undefined>;
		tty?: (path: string) => Promise<string | undefined>;
	} = {},
): Promise<Owner> {
	if (isShell(pane.command)) {
		const tree = await (read.tree ?? readProcessTree)(pane.pid);
		// With a shell fallback the shell stays the pane's command for the whole life of the agent below it.
		const isWrapped =
			tree !== undefined && [...walkTree(tree)].some((node) => node.isForeground && !isShell(node.comm));
		if (!isWrapped) return "shell-foreground";
	}
	const flags = await (read.tty ?? readTty)(pane.tty);
	return flags !== undefined && isCooked(flags) ? "cooked-tty" : "program";
}

function isCooked(flags: string): boolean {
	const words = flags.split(/\s+/);
	return words.includes("icanon") && words.includes("echo");
}

/** The settings of a terminal; undefined when they cannot be read, which then proves nothing. */
function readTty(path: string): Promise<string | undefined> {
	const flag = process.platform === "linux" ? "-F" : "-f";
	return new Promise((resolve) => {
		execFile("stty", ["-a", flag, path], { timeout: 5000 }, (error, stdout) => resolve(error ? undefined : stdout));
	});
}
