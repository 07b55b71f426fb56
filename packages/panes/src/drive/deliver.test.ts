import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDrive, startFake } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { killPane, openPane } from "../tmux/session.ts";
import { deliverText } from "./deliver.ts";
import { openPaneIO } from "./pane-io.ts";
import { deriveReadiness, probeReadiness, SENTINEL } from "./probe.ts";

describe("readiness from two captures", () => {
	it.each([
		[true, "a", "a", "ready"],
		[true, "", "", "ready"],
		[false, "", "", "booting"],
		[false, " \n", " \n", "booting"],
		[false, "a", "b", "booting"],
		[false, "a", "a", "parked"],
	])("echoed %j, %j then %j is %s (T71)", (echoed, first, second, word) => {
		expect(deriveReadiness(echoed, first, second).word).toBe(word);
	});
});

describe.skipIf(!hasTmux).concurrent("probing and delivering with a fake agent (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const probe = (pane: string) => {
		const drive = makeDrive(server);
		return probeReadiness(drive, openPaneIO(drive, pane));
	};
	const deliver = async (pane: string, text: string) => {
		const drive = makeDrive(server);
		await deliverText(drive, openPaneIO(drive, pane), text);
		return drive.warnings;
	};

	it("a running agent is ready and keeps an empty composer without a message (T61)", async () => {
		const { pane, log } = await startFake(server, []);
		expect(await probe(pane)).toMatchObject({ word: "ready" });
		expect(await openPaneIO(makeDrive(server), pane).tail(5)).toBe(">");
		expect(log.messages()).toEqual([]);
	});

	it("nothing is typed while the terminal is still cooked (T62)", async () => {
		const { pane, log } = await startFake(server, ["--boot", "600000"], { isUp: false });
		await until(async () => (await openPaneIO(makeDrive(server), pane).info()).command === "node", "the program");
		expect(await probe(pane)).toMatchObject({ word: "booting", reason: "cooked-tty" });
		expect(await openPaneIO(makeDrive(server), pane).tail(5)).toBe("");
		expect(log.entries()).toEqual([]);
	});

	it("an agent below a shell fallback is booting until it reads keys, and ready then, although the pane's command is a shell (T63)", async () => {
		const up = join(server.folder, "booted");
		const { pane, log } = await startFake(server, ["--boot-until", up], { shellFallback: true, isUp: false });
		expect(await probe(pane)).toMatchObject({ word: "booting" });
		writeFileSync(up, "");
		await until(() => log.entries().length > 0, "the fake agent");
		expect((await openPaneIO(makeDrive(server), pane).info()).command).toBe("sh");
		expect(await probe(pane)).toMatchObject({ word: "ready" });
	});

	it("a shell that took the pane over gets nothing typed (T64)", async () => {
		const pane = await server.open(`true; exec "$SHELL"`);
		await until(async () => /[$#]/.test(await openPaneIO(makeDrive(server), pane).tail(3)), "the shell's prompt");
		const reason = await probe(pane);
		expect(reason.reason).toBe("shell-foreground");
		expect(reason.word).toBe("booting");
		expect(await openPaneIO(makeDrive(server), pane).tail(30)).not.toContain(SENTINEL);
	});

	it("a blank screen is booting (T65)", async () => {
		const { pane } = await startFake(server, ["--blank", "600000", "--no-echo"], { isUp: false });
		const seen = await until(async () => {
			const answer = await probe(pane);
			return answer.reason === "blank" && answer;
		}, "raw mode");
		expect(seen).toEqual({ word: "booting", reason: "blank", snippet: "" });
	});

	it("a moving screen without an echo is booting (T66)", async () => {
		const { pane } = await startFake(server, ["--animate", "600000", "--no-echo"]);
		expect(await probe(pane)).toMatchObject({ word: "booting", reason: "moving" });
	});

	it("a wall is parked with the wall in the snippet (T67)", async () => {
		const { pane } = await startFake(server, ["--wall", "Trust this folder?"]);
		const seen = await probe(pane);
		expect(seen).toMatchObject({ word: "parked", reason: "stable" });
		expect(seen.snippet).toContain("Trust this folder?");
	});

	it("a bordered composer of 40 columns is ready, its frame read over (T68)", async () => {
		const { pane } = await startFake(server, ["--border"], { width: 40 });
		expect(await probe(pane)).toMatchObject({ word: "ready", reason: "echo" });
	});

	it.each([[["--border"]], [[]]])(
		"a long payload that wraps in a narrow pane with %j is verified and lands once (T81)",
		async (args) => {
			const { pane, log } = await startFake(server, args, { width: 50 });
			const text = `please read ${"abcdefghi ".repeat(18)}to its end`;
			expect(text.length).toBeGreaterThan(200);
			expect(await deliver(pane, text)).toEqual([]);
			expect(log.messages()).toEqual([text]);
		},
	);

	it("copy-mode is left before the probe types (T69)", async () => {
		const { pane } = await startFake(server, []);
		await server.tmux.run(["copy-mode", "-t", pane]);
		expect(await probe(pane)).toMatchObject({ word: "ready" });
		expect((await openPaneIO(makeDrive(server), pane).info()).isInMode).toBe(false);
	});

	it("a sentinel that already stands in the scrollback is no echo (T70)", async () => {
		const { pane } = await startFake(server, ["--prelude", `old ${SENTINEL}`, "--no-echo"]);
		expect(await probe(pane)).toMatchObject({ word: "parked" });
	});

	it("a delivered text arrives as one message", async () => {
		const { pane, log } = await startFake(server, ["--style", "claude"]);
		await deliver(pane, "hello");
		expect(log.messages()).toEqual(["hello"]);
	});

	it("an ignored Enter is retried with a warning and gives exactly one message (T78)", async () => {
		const { pane, log } = await startFake(server, ["--ignore-enter", "1"]);
		expect(await deliver(pane, "once")).toEqual([expect.stringContaining("trying once more")]);
		expect(log.messages()).toEqual(["once"]);
	});

	it("an agent that ignores every Enter fails with its screen and an empty composer (T79)", async () => {
		const { pane, log } = await startFake(server, ["--ignore-enter", "99"]);
		await expect(deliver(pane, "never")).rejects.toMatchObject({
			code: "no_reaction",
			snippet: expect.stringContaining("never"),
		});
		expect(await openPaneIO(makeDrive(server), pane).tail(3)).toBe(">");
		expect(log.messages()).toEqual([]);
		expect(log.keys().filter((key) => key === "Enter").length).toBe(2);
	});

	it("the same text delivered twice lands twice (T80)", async () => {
		const { pane, log } = await startFake(server, []);
		await deliver(pane, "again");
		await deliver(pane, "again");
		expect(log.messages()).toEqual(["again", "again"]);
	});

	it("a printed composer that reads nothing gets no Enter (T83)", async () => {
		const { pane, log } = await startFake(server, ["--printed"], { isUp: false });
		await until(async () => (await openPaneIO(makeDrive(server), pane).tail(3)).includes("/cmd"), "the trap");
		await expect(deliver(pane, "/cmd go")).rejects.toMatchObject({ code: "not_ready" });
		expect(log.entries()).toEqual([]);
	});

	it("a pane that dies between typing and Enter is reported as missing (T84)", async () => {
		const { pane } = await startFake(server, []);
		const drive = makeDrive(server);
		const io = openPaneIO(drive, pane);
		const dying = {
			...io,
			press: async (...keys: string[]) => {
				if (keys.includes("Enter")) await killPane(drive.tmux, pane);
				await io.press(...keys);
			},
		};
		await expect(deliverText(drive, dying, "hello")).rejects.toMatchObject({ code: "pane_missing" });
	});

	it("copy-mode entered by a person between probe and Enter is left before Enter (T85)", async () => {
		const { pane, log } = await startFake(server, []);
		const drive = makeDrive(server);
		const io = openPaneIO(drive, pane);
		const disturbed = {
			...io,
			press: async (...keys: string[]) => {
				if (keys.includes("Enter")) await drive.tmux.run(["copy-mode", "-t", pane]);
				await io.press(...keys);
			},
		};
		await deliverText(drive, disturbed, "still");
		expect(log.messages()).toEqual(["still"]);
	});

	it("a worker in another pane of the window is not touched", async () => {
		const first = await startFake(server, []);
		const other = await openPane(server.tmux, { shape: "split", beside: first.pane, command: "cat" });
		await deliver(first.pane, "only here");
		expect(await openPaneIO(makeDrive(server), other.id).tail(5)).toBe("");
	});
});
