import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDrive, startFake } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { killPane, setPaneOptions } from "../tmux/session.ts";
import { type AgentWord, formatAgentState, STATE_OPTION } from "./agent-state.ts";
import { type AwaitRequest, awaitPanes } from "./await.ts";
import type { Clock } from "./clock.ts";
import { openPaneIO } from "./pane-io.ts";

/** A clock that moves only when somebody sleeps; `at` runs when a moment is reached. */
class TestClock implements Clock {
	#now = 0;
	readonly #events: { readonly at: number; readonly run: () => unknown }[] = [];

	now(): number {
		return this.#now;
	}

	at(ms: number, run: () => unknown): this {
		this.#events.push({ at: ms, run });
		return this;
	}

	async sleep(ms: number): Promise<void> {
		this.#now += ms;
		while (this.#events[0] !== undefined && this.#events[0].at <= this.#now) await this.#events.shift()?.run();
	}
}

describe.skipIf(!hasTmux).concurrent("awaiting panes (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	async function setState(pane: string, word: AgentWord): Promise<void> {
		await setPaneOptions(server.tmux, pane, { [STATE_OPTION]: formatAgentState({ word, epoch: 1, pid: process.pid }) });
	}

	const wait = (clock: Clock, panes: string[], request: Partial<AwaitRequest>) => {
		const drive = { ...makeDrive(server), clock };
		const ios = panes.map((pane) => openPaneIO(drive, pane));
		return awaitPanes(drive, ios, { until: ["idle"], timeoutMs: 60_000, ...request });
	};

	it("answers in no time when the state is already there (T102)", async () => {
		const pane = await server.open("exec cat");
		await setState(pane, "idle");
		expect(await wait(new TestClock(), [pane], {})).toEqual({ word: "idle", pane, elapsedMs: 0 });
	});

	it("waits for a file although the pane reports no state (T104)", async () => {
		const pane = await server.open("exec cat");
		const file = join(server.folder, `f-${pane}`);
		const clock = new TestClock().at(300, () => writeFileSync(file, ""));
		expect(await wait(clock, [pane], { file })).toMatchObject({ word: "file", elapsedMs: 300 });
	});

	it("prefers a file to the death of the pane in the same moment (T105)", async () => {
		const pane = await server.open("exec cat");
		const file = join(server.folder, `f-${pane}`);
		const clock = new TestClock().at(100, async () => {
			await killPane(server.tmux, pane);
			writeFileSync(file, "");
		});
		expect((await wait(clock, [pane], { file })).word).toBe("file");
		rmSync(file);
	});

	it("is gone when the pane is killed while it waits (T106)", async () => {
		const pane = await server.open("exec cat");
		await setState(pane, "active");
		const clock = new TestClock().at(100, () => killPane(server.tmux, pane));
		expect(await wait(clock, [pane], {})).toMatchObject({ word: "gone", pane });
	});

	it("is running when the time is over, and never when there is no limit (T107)", async () => {
		const pane = await server.open("exec cat");
		await setState(pane, "active");
		expect(await wait(new TestClock(), [pane], { timeoutMs: 1000 })).toMatchObject({
			word: "running",
			elapsedMs: 1000,
		});
		const clock = new TestClock().at(3000, () => setState(pane, "idle"));
		expect(await wait(clock, [pane], { timeoutMs: 0 })).toMatchObject({ word: "idle", elapsedMs: 3000 });
	});

	it("does not take the idle state from before for the end of the next turn (T110)", async () => {
		const pane = await server.open("exec cat");
		await setState(pane, "idle");
		const clock = new TestClock().at(200, () => setState(pane, "active")).at(500, () => setState(pane, "idle"));
		expect(await wait(clock, [pane], { afterActive: true })).toMatchObject({ word: "idle", elapsedMs: 500 });
	});

	it("names the first of several panes (T111)", async () => {
		const panes = [await server.open("exec cat"), await server.open("exec cat")];
		for (const pane of panes) await setState(pane, "active");
		const clock = new TestClock().at(100, () => setState(panes[1]!, "waiting"));
		expect(await wait(clock, panes, { until: ["idle", "waiting"] })).toMatchObject({ word: "waiting", pane: panes[1] });
	});

	it("fails at once when one of several panes cannot be observed", async () => {
		const panes = [await server.open("exec cat"), await server.open("exec cat")];
		await setState(panes[0]!, "active");
		await expect(wait(new TestClock(), panes, {})).rejects.toMatchObject({ code: "unobservable" });
	});

	it("fires on a pattern only when it appears anew", async () => {
		const { pane } = await startFake(server, ["--prelude", "DONE before"]);
		const io = openPaneIO(makeDrive(server), pane);
		const clock = new TestClock().at(300, async () => {
			await io.type("DONE");
			await until(async () => (await io.tail(9)).includes("> DONE"), "the text");
		});
		expect(await wait(clock, [pane], { screen: /DONE/ })).toMatchObject({ word: "screen", elapsedMs: 300 });
	});

	it("stops when its caller aborts", async () => {
		const pane = await server.open("exec cat");
		await setState(pane, "active");
		const stop = new AbortController();
		const drive = { ...makeDrive(server), signal: stop.signal };
		const waiting = awaitPanes(drive, [openPaneIO(drive, pane)], { until: ["idle"], timeoutMs: 0 });
		stop.abort(new Error("enough"));
		await expect(waiting).rejects.toThrow("enough");
	});
});
