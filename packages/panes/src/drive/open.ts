import { withShellFallback } from "../compose/shell.ts";
import { PaneError } from "../errors.ts";
import { quoteWord } from "../tmux/arguments.ts";
import { isUnreachable } from "../tmux/server.ts";
import { openPane, type SpawnedPane } from "../tmux/session.ts";
import { callOptions, type Drive } from "./context.ts";
import { PLACEHOLDER, startInPane } from "./start.ts";

/** How an agent is opened in a pane. */
export interface OpenRequest {
	/** Composed interactive command of the agent. */
	readonly command: string;
	readonly cwd: string;
	/** Force a shape; without it a caller inside this server splits its own window. */
	readonly shape?: "split" | "window" | undefined;
	readonly name?: string | undefined;
	/** Session that gets a new window, as `NAME:`. */
	readonly session?: string | undefined;
	/** First prompt, given as one argument; its delivery is not verified. */
	readonly prompt?: string | undefined;
	readonly shellFallback?: boolean | undefined;
	readonly takesFocus?: boolean | undefined;
	/** Whether the server was named by the caller; pane ids of the caller then mean nothing. */
	readonly isOtherServer: boolean;
}

/**
 * Opens an agent in a pane and returns its ids and the command that was run. Throws when no server can be reached, and
 * with the last output when the agent ends at once.
 */
export async function openAgent(
	drive: Drive,
	request: OpenRequest,
): Promise<SpawnedPane & { readonly command: string }> {
	const options = callOptions(drive);
	const reach = await drive.tmux.ask(["list-sessions"], options);
	if (reach.code !== 0 && isUnreachable(reach.stderr)) {
		await drive.tmux.run(["list-sessions"], options);
	}
	const prompted = request.prompt === undefined ? request.command : `${request.command} ${quoteWord(request.prompt)}`;
	const command = request.shellFallback ? withShellFallback(prompted) : prompted;
	const caller = request.isOtherServer ? undefined : drive.env.TMUX_PANE;
	const shape = request.shape ?? (caller === undefined ? "window" : "split");
	if (shape === "split" && caller === undefined) {
		throw new PaneError("usage", "there is no pane to split: run this inside tmux, or use --window");
	}
	const pane = await openPane(
		drive.tmux,
		{
			...{ shape, command: PLACEHOLDER, cwd: request.cwd, name: request.name, takesFocus: request.takesFocus },
			beside: shape === "split" ? caller : request.session,
		},
		options,
	);
	return { ...(await startInPane(drive, pane.id, { command, cwd: request.cwd })), command };
}
