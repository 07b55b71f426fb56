import type { AgentCli } from "../clis/cli.ts";
import { findCli } from "../clis/index.ts";
import { findAgent, readProcessTree, walkTree } from "./processes.ts";

/** The agent CLI that runs in a pane, by its processes; undefined when none is recognised. */
export async function identifyCli(pane: { readonly pid: number }): Promise<AgentCli | undefined> {
	const tree = await readProcessTree(pane.pid);
	if (tree === undefined) return undefined;
	for (const node of walkTree(tree)) {
		const name = findAgent(node);
		if (name !== undefined) return findCli(name);
	}
	return undefined;
}
