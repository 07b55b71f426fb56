import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LEGACY_STATE_OPTION, SESSION_OPTION, STATE_OPTION } from "../drive/agent-state.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { readPaneOptions } from "../tmux/session.ts";
import { reportAgentState } from "./report.ts";

describe.skipIf(!hasTmux)("an agent's own report (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	it("goes through active, waiting and idle with its own pid and is removed at the end (T60)", async () => {
		const pane = await server.open("exec cat");
		const env = { TMUX_PANE: pane, TMUX: `${server.folder}/tmux-${process.getuid?.()}/${server.name},1,0` };
		const read = async () => readPaneOptions(server.tmux, pane);
		for (const word of ["active", "waiting", "idle"] as const) {
			reportAgentState(word, { env, sessionRef: "prime:s1" });
			const value = await until(async () => {
				const text = (await read()).get(STATE_OPTION);
				return text?.startsWith(`${word}:`) && text;
			}, word);
			expect(value).toMatch(new RegExp(`^${word}:\\d+:${process.pid}$`));
		}
		await until(async () => (await read()).get(SESSION_OPTION) === "prime:s1", "the session");
		reportAgentState(undefined, { env });
		await until(
			async () => !(await read()).has(STATE_OPTION) && !(await read()).has(LEGACY_STATE_OPTION),
			"its removal",
		);
	});

	it("drops repetitions, except a sign of life while active", async () => {
		const pane = await server.open("exec cat");
		const env = { TMUX_PANE: pane, TMUX: `${server.folder}/tmux-${process.getuid?.()}/${server.name},1,0` };
		const epoch = async () => (await readPaneOptions(server.tmux, pane)).get(STATE_OPTION)?.split(":")[1];
		reportAgentState("active", { env, now: 1_000_000 });
		await until(async () => (await epoch()) === "1000", "the first report");
		reportAgentState("active", { env, now: 1_010_000, sessionRef: "prime:dropped" });
		reportAgentState("active", { env, now: 1_040_000 });
		await until(async () => (await epoch()) === "1040", "the sign of life");
		expect((await readPaneOptions(server.tmux, pane)).has(SESSION_OPTION)).toBe(false);
	});

	it("does nothing and throws nothing outside of tmux", () => {
		expect(() => reportAgentState("active", { env: {} })).not.toThrow();
		expect(() => reportAgentState("idle", { env: { TMUX_PANE: "%0", TMUX: "/nowhere,1,0" } })).not.toThrow();
	});
});
