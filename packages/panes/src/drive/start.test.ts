import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDrive, QUICK } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { captureTail, findPane } from "../tmux/pane.ts";
import { openAgent } from "./open.ts";

describe.skipIf(!hasTmux)("starting a program in a pane (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(async () => {
		server = new PrivateServer();
		await server.tmux.run(["-f", "/dev/null", "new-session", "-d", "-s", "home", "exec cat"]);
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const open = (command: string, start: number) =>
		openAgent(makeDrive(server, { ...QUICK, start }), {
			...{ command, cwd: server.folder, session: "home:", isOtherServer: false },
		});

	it("a program that ends at once is an error with its last output, and leaves no pane", async () => {
		const listPanes = async () => (await server.tmux.run(["list-panes", "-a", "-F", "#{pane_id}"])).trim().split("\n");
		const before = await listPanes();
		const opening = open("echo no key is set; read line; exit 3", 600_000);
		const failure = expect(opening).rejects.toMatchObject({
			code: "died_at_start",
			message: expect.stringContaining("echo no key is set; read line; exit 3"),
			snippet: expect.stringMatching(/^no key is set\n/),
		});
		// Its end waits for the output to be seen, since the system may drop what is unread when a terminal closes.
		const pane = await until(async () => {
			const added = (await listPanes()).filter((id) => !before.includes(id))[0] ?? "";
			const isSeen = added !== "" && (await captureTail(server.tmux, added, 5)).join("") === "no key is set";
			return isSeen && added;
		}, "the output");
		await server.tmux.run(["send-keys", "-t", pane, "Enter"]);
		await failure;
		expect(await findPane(server.tmux, pane)).toBeUndefined();
	});

	it("the ids are those of the program, whose pane ends with it later on", async () => {
		const { id, pid } = await open("read line", 1);
		expect((await findPane(server.tmux, id))?.pid).toBe(pid);
		await server.tmux.run(["send-keys", "-t", id, "Enter"]);
		await until(async () => (await findPane(server.tmux, id)) === undefined, "the pane's end");
	});
});
