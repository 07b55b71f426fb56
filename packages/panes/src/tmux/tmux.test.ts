import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { pasteText, pressKeys, typeLiteral } from "./input.ts";
import { captureTail, findPane, readFrame, readPane, resolvePane } from "./pane.ts";
import { Tmux } from "./server.ts";
import {
	findSessionPane,
	killPane,
	killSession,
	listSessions,
	makeSession,
	openPane,
	readPaneOptions,
	setPaneOptions,
	setSessionOptions,
} from "./session.ts";

describe.skipIf(!hasTmux)("the tmux layer on a private server (needs tmux)", () => {
	let server: PrivateServer;
	let tmux: Tmux;
	beforeAll(async () => {
		server = new PrivateServer();
		tmux = server.tmux;
		await server.open("cat");
	});
	afterAll(() => server[Symbol.asyncDispose]());

	async function typed(text: string): Promise<string> {
		const { pane, log } = await server.openRecorder();
		await until(async () => (await captureTail(tmux, pane, 5)).join("").includes("READY"), "the recorder");
		await typeLiteral(tmux, pane, text);
		await pressKeys(tmux, pane, ["F12"]);
		const bytes = await until(() => {
			const seen = readFileSync(log, "utf8");
			return seen.endsWith("\x1b[24~") && seen;
		}, "the typed text");
		await killPane(tmux, pane);
		return bytes.slice(0, -"\x1b[24~".length);
	}

	it.each([
		"-n dash",
		"end;",
		";",
		"a;;",
		"\\;",
		"a\\",
		"a\\;",
		"#{pane_id} $HOME ~ {x} \"q\" 's'",
		"日本 🙂 e\u0301 שלום",
	])("types %j byte for byte (T28, T29, T30, R07)", async (text) => {
		expect(await typed(text)).toBe(text);
	});

	it("types text longer than one tmux command in pieces that lose no byte", async () => {
		const text = "0123456789é".repeat(4000);
		expect(await typed(text)).toBe(text);
	});

	it("pastes text with control characters of tmux's parser byte for byte", async () => {
		const { pane, log } = await server.openRecorder();
		await until(async () => (await captureTail(tmux, pane, 5)).join("").includes("READY"), "the recorder");
		await pasteText(tmux, pane, "a;\nb #{x};");
		await until(() => readFileSync(log, "utf8") === "a;\rb #{x};", "the paste");
		expect((await tmux.run(["list-buffers"])).trim()).toBe("");
	});

	it("reports a pane id that does not exist as missing although tmux exits 0 (T31)", async () => {
		await expect(readPane(tmux, "%99")).rejects.toMatchObject({ code: "pane_missing" });
		await expect(typeLiteral(tmux, "%99", "x")).rejects.toMatchObject({ code: "pane_missing" });
	});

	it("does not resolve a window name as a pane although tmux would (T32)", async () => {
		expect(await findPane(tmux, "cat")).toBeUndefined();
		expect(await findPane(tmux, "")).toBeUndefined();
	});

	it("tells an unreachable server from a missing pane (T33)", async () => {
		const nowhere = new Tmux({ name: "nobody" }, { env: server.env });
		await expect(readPane(nowhere, "%0")).rejects.toMatchObject({ code: "tmux" });
	});

	it("names tmux as the missing program when it is not on PATH", async () => {
		const none = new Tmux({}, { env: { PATH: "/nonexistent" } });
		await expect(none.run(["list-sessions"])).rejects.toThrow(/tmux is not installed/);
	});

	it("stops waiting for tmux when the caller aborts", async () => {
		await expect(tmux.run(["wait-for", "never"], { signal: AbortSignal.abort(new Error("told to")) })).rejects.toThrow(
			"told to",
		);
	});

	it("treats a dead pane as missing for keys and pastes, and the server survives (T34)", async () => {
		const pane = await makeSession(tmux, { name: "dead", command: "true", width: 80, height: 24 });
		await until(async () => (await findPane(tmux, pane.id))?.isDead, "the pane to die");
		await expect(typeLiteral(tmux, pane.id, "x")).rejects.toMatchObject({ code: "pane_missing" });
		await expect(pasteText(tmux, pane.id, "x\ny")).rejects.toMatchObject({ code: "pane_missing" });
		expect(await listSessions(tmux)).toContain("dead");
		expect((await tmux.run(["list-buffers"])).trim()).toBe("");
		await killSession(tmux, "dead");
	});

	it("leaves a tmux mode in the same call that sends keys", async () => {
		const { pane, log } = await server.openRecorder();
		await until(async () => (await captureTail(tmux, pane, 5)).join("").includes("READY"), "the recorder");
		await tmux.run(["copy-mode", "-t", pane]);
		await typeLiteral(tmux, pane, "through");
		await until(() => readFileSync(log, "utf8") === "through", "the keys");
		expect((await readPane(tmux, pane)).isInMode).toBe(false);
	});

	it("refuses to leave a tmux mode when told to respect the person who scrolls", async () => {
		const { pane } = await server.openRecorder();
		await tmux.run(["copy-mode", "-t", pane]);
		await expect(typeLiteral(tmux, pane, "x", { respectMode: true })).rejects.toMatchObject({ code: "refused" });
		expect((await readPane(tmux, pane)).isInMode).toBe(true);
	});

	it("captures the last rows without the padding below them and keeps blank rows in between (T35, T36)", async () => {
		const pane = await server.open("printf 'one\\n\\nthree\\n'; exec cat", { height: 30 });
		const tail = await until(async () => {
			const rows = await captureTail(tmux, pane, 5);
			return rows.includes("three") && rows;
		}, "the text");
		expect(tail).toEqual(["one", "", "three"]);
		expect(await captureTail(tmux, pane, 1)).toEqual(["three"]);
	});

	it("reads pane, options and screen in one tmux call", async () => {
		const pane = await server.open("printf 'caf\\303\\251'; exec cat");
		await until(async () => (await captureTail(tmux, pane, 1))[0] === "café", "the text");
		await setSessionOptions(tmux, pane, { "@profile": "codex", "@ready": '^› "q" \\d #{pane_id} end;' });
		const calls = tmux.calls;
		const frame = await readFrame(tmux, pane, { formats: ["#{@profile}", "#{@ready}"] });
		expect(tmux.calls - calls).toBe(1);
		expect(frame?.values).toEqual(["codex", '^› "q" \\d #{pane_id} end;']);
		expect(frame?.rows[0]).toBe("café");
		expect(frame?.info.id).toBe(pane);
	});

	it("starts a server that is not marked as the leftover of a Python kernel", async () => {
		await using own = new PrivateServer();
		const marked = new Tmux(own.tmux.address, { env: { ...own.env, PRIME_AGENT_KERNEL_ID: "7-abc", KEPT: "yes" } });
		await marked.run(["-f", "/dev/null", "new-session", "-d", "env; exec cat"]);
		const rows = await until(async () => {
			const seen = await captureTail(own.tmux, "%0", 200);
			return seen.some((row) => row.startsWith("KEPT=")) && seen;
		}, "its environment");
		expect(rows.filter((row) => row.startsWith("PRIME_AGENT_KERNEL_ID"))).toEqual([]);
	});

	it("reads names that are not ASCII in a C locale", async () => {
		const pane = await server.open("exec cat");
		await tmux.run(["select-pane", "-t", pane, "-T", "⠸ grün ›"]);
		const plain = new Tmux(tmux.address, { env: { ...server.env, LANG: "C", LC_ALL: "C" } });
		expect((await readPane(plain, pane)).title).toBe("⠸ grün ›");
	});

	it("reads options of the pane itself and not those inherited from the server", async () => {
		const pane = await server.open("cat");
		await tmux.run(["set-option", "-g", "@rk_pane_agent_state", "idle:1"]);
		expect(await readPaneOptions(tmux, pane)).toEqual(new Map());
		await setPaneOptions(tmux, pane, { "@rk_pane_agent_state": "active:2:3" });
		expect(await readPaneOptions(tmux, pane)).toEqual(new Map([["@rk_pane_agent_state", "active:2:3"]]));
		await setPaneOptions(tmux, pane, { "@rk_pane_agent_state": undefined });
		expect(await readPaneOptions(tmux, pane)).toEqual(new Map());
		await tmux.run(["set-option", "-gu", "@rk_pane_agent_state"]);
	});

	it("finds and ends only the session of exactly the given name (T40)", async () => {
		await makeSession(tmux, { name: "at_foobar", command: "cat", width: 80, height: 24 });
		expect(await findSessionPane(tmux, "at_foo")).toBeUndefined();
		expect(await killSession(tmux, "at_foo")).toBe(false);
		expect(await findSessionPane(tmux, "at_foobar")).toMatch(/^%\d+$/);
		expect(await killSession(tmux, "at_foobar")).toBe(true);
	});

	it("keeps the output of a program that ends at once, on the screen and in the log (T119)", async () => {
		const log = `${server.folder}/boot log.txt`;
		const request = { name: "brief", command: "echo TOKEN; exit 42", width: 80, height: 24, log };
		const pane = await makeSession(tmux, request);
		await until(async () => (await findPane(tmux, pane.id))?.isDead, "the pane to die");
		expect((await captureTail(tmux, pane.id, 30)).join("\n")).toContain("TOKEN");
		await until(() => readFileSync(log, "utf8").includes("TOKEN"), "the log");
		await killSession(tmux, "brief");
	});

	it("opens a split without moving the focus and routes a window target to its active pane", async () => {
		const first = await server.open("cat");
		const split = await openPane(tmux, { shape: "split", beside: first, command: "cat", direction: "right" });
		const info = await readPane(tmux, first);
		expect(info.isActive).toBe(true);
		expect(split.windowId).toBe(info.windowId);
		expect((await resolvePane(tmux, { kind: "window", id: split.windowId })).id).toBe(first);
	});
});
