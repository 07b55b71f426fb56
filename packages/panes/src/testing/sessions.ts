import { type LaunchRequest, launchSession } from "../drive/launch.ts";
import type { SessionView } from "../drive/session.ts";
import { type FakeLog, fakeCommand, makeDrive } from "./fake-pane.ts";
import type { PrivateServer } from "./tmux-server.ts";

let counter = 0;

/** Launches the fake agent as a named session and returns when it is ready. */
export async function launchFake(
	server: PrivateServer,
	args: readonly string[],
	request: Partial<LaunchRequest> = {},
): Promise<{ name: string; log: FakeLog; view: SessionView }> {
	counter += 1;
	const name = request.name ?? `s${counter}`;
	const { words, log } = fakeCommand(server, args);
	const style = args[args.indexOf("--style") + 1] ?? "generic";
	const view = await launchSession(makeDrive(server), {
		...{ name, words, timeoutMs: 30_000, profile: style, size: { width: 100, height: 30 }, cwd: server.folder },
		...request,
	});
	return { name, log, view };
}
