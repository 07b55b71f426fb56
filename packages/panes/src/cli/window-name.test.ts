import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAgentTmux } from "../testing/command.ts";
import { hasTmux, PrivateServer } from "../testing/tmux-server.ts";

describe.skipIf(!hasTmux).concurrent("agent-tmux window-name (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(async () => {
		server = new PrivateServer();
		await server.open("exec cat");
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const run = (...words: string[]) => runAgentTmux(server, ["window-name", ...words]);
	const nameOf = async (pane: string) =>
		(await server.tmux.run(["display-message", "-p", "-t", pane, "#{window_name}"])).replace(/\n$/, "");

	async function openNamed(name: string): Promise<string> {
		const pane = await server.open("exec cat");
		await server.tmux.run(["rename-window", "-t", pane, name]);
		return pane;
	}

	it("ensure-prefix puts the prefix there once", async () => {
		const pane = await openNamed("build");
		expect((await run("ensure-prefix", pane, "busy: ")).stdout).toMatch(/^renamed @\d+ busy: build\n$/);
		expect((await run("ensure-prefix", pane, "busy: ")).stdout).toMatch(/^kept @\d+ busy: build\n$/);
		expect(await nameOf(pane)).toBe("busy: build");
	});

	it("replace-prefix changes its own prefix and leaves a name that a person chose", async () => {
		const pane = await openNamed("busy: build");
		expect(await run("replace-prefix", pane, "busy: ", "done: ")).toMatchObject({ code: 0 });
		expect(await nameOf(pane)).toBe("done: build");
		await server.tmux.run(["rename-window", "-t", pane, "mine"]);
		expect(await run("replace-prefix", pane, "done: ", "", "--json")).toMatchObject({
			code: 0,
			stdout: expect.stringContaining('"renamed":false'),
		});
		expect(await nameOf(pane)).toBe("mine");
	});

	it("keeps what tmux would expand or swallow in a name", async () => {
		const pane = await openNamed("x\\;");
		expect((await run("ensure-prefix", "--", pane, "-#{pane_id} #S ")).code).toBe(0);
		expect(await nameOf(pane)).toBe("-#{pane_id} #S x;");
	});

	it("tells a missing pane (2), a failure of tmux (3) and a wrong call (2)", async () => {
		expect((await run("ensure-prefix", "%999", "x")).code).toBe(2);
		expect((await run("ensure-prefix", "%0", "x", "-L", "nobody")).code).toBe(3);
		expect((await run("swap", "%0", "x")).code).toBe(2);
		expect((await run("replace-prefix", "%0", "x")).code).toBe(2);
		expect((await run("ensure-prefix", "%0", "")).code).toBe(2);
	});
});
