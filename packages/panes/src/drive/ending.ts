import { killPane, killSession } from "../tmux/session.ts";
import { callOptions, type Drive, poll } from "./context.ts";
import { type ProcessNode, readParent, readProcessTree, walkTree } from "./processes.ts";

/**
 * Ends a session of exactly this name with everything that its pane had started; false when there was none. Some agent
 * CLIs leave processes behind that tmux does not reach.
 */
export async function endSessionTree(drive: Drive, session: string, panePid: number | undefined): Promise<boolean> {
	const tree = await listTree(panePid);
	const isEnded = await killSession(drive.tmux, session, callOptions(drive));
	await endRest(drive, tree);
	return isEnded;
}

/** Ends one pane with everything that it had started. */
export async function endPaneTree(drive: Drive, pane: { readonly id: string; readonly pid: number }): Promise<void> {
	const tree = await listTree(pane.pid);
	await killPane(drive.tmux, pane.id, callOptions(drive));
	await endRest(drive, tree);
}

async function listTree(pid: number | undefined): Promise<ProcessNode[]> {
	const tree = pid === undefined || pid <= 1 ? undefined : await readProcessTree(pid);
	return tree === undefined ? [] : [...walkTree(tree)];
}

/** First the hang-up of tmux, then a request, then force; each gets its time. */
async function endRest(drive: Drive, tree: readonly ProcessNode[]): Promise<void> {
	for (const signal of [undefined, "SIGTERM", "SIGKILL"] as const) {
		const left = await listAlive(tree);
		if (left.length === 0) return;
		if (signal !== undefined) for (const node of left) send(node.pid, signal);
		await poll(drive, drive.timings.ending, drive.timings.look, async () =>
			(await listAlive(left)).length === 0 ? true : undefined,
		);
	}
	const left = await listAlive(tree);
	if (left.length > 0) drive.warn(`still running: ${left.map((node) => `${node.pid} ${node.comm}`).join(", ")}`);
}

/** A pid may belong to another process meanwhile, so its name must still be the same. */
async function listAlive(tree: readonly ProcessNode[]): Promise<ProcessNode[]> {
	const alive: ProcessNode[] = [];
	for (const node of tree) {
		const now = await readParent(node.pid);
		if (now !== undefined && !now.isZombie && now.comm === node.comm) alive.push(node);
	}
	return alive;
}

function send(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}
