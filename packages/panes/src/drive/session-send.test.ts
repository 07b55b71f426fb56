import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDrive, QUICK } from "../testing/fake-pane.ts";
import { launchFake } from "../testing/sessions.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { launchSession } from "./launch.ts";
import { readStatus } from "./session.ts";
import { type SessionSendOptions, sendToSession } from "./session-send.ts";

describe.skipIf(!hasTmux).concurrent("sending to a session (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const send = (name: string, text: string, options?: SessionSendOptions) =>
		sendToSession(makeDrive(server), name, text, options);

	it.each(["codex", "claude"])("submits one message to an idle %s screen (T130)", async (style) => {
		const { name, log } = await launchFake(server, ["--style", style]);
		expect(await send(name, "hello there")).toBe("submitted");
		expect(log.messages()).toEqual(["hello there"]);
	});

	it("queues with Tab during a turn of a Codex screen, never with Enter, and the message runs afterwards (T131)", async () => {
		const { name, log, view } = await launchFake(server, ["--style", "codex", "--turn-forever"]);
		await send(name, "first");
		await until(async () => (await readStatus(makeDrive(server), name)) === "busy", "the turn");
		expect(await send(name, "second")).toBe("queued");
		expect(log.keys()).toEqual(["Enter", "Tab"]);
		expect(log.messages()).toEqual(["first"]);
		await view.io.press("Escape");
		await until(() => log.messages().length === 2, "the queued message");
		expect(log.messages()).toEqual(["first", "second"]);
	});

	it("submits with Enter when the turn ends between the text and the first key (T132)", async () => {
		const { name, log } = await launchFake(server, ["--style", "codex", "--turn-forever", "--end-on-input"]);
		await send(name, "first");
		await until(async () => (await readStatus(makeDrive(server), name)) === "busy", "the turn");
		expect(await send(name, "second")).toBe("submitted");
		expect(log.keys()).toEqual(["Enter", "Enter"]);
		expect(log.messages()).toEqual(["first", "second"]);
	});

	it.each([
		["/model x", []],
		["x".repeat(20_000), ["paste"]],
		["two\nlines", ["paste"]],
	])("types a slash command and pastes what is long, in one piece: text number %# (R05)", async (text, pastes) => {
		const { name, log } = await launchFake(server, ["--style", "codex", "--chip", "300"]);
		expect(await send(name, text)).toBe("submitted");
		expect(log.entries().flatMap((entry) => (entry.type === "paste" ? [entry.type] : []))).toEqual(pastes);
		expect(log.messages()).toEqual([text]);
	});

	it("queues with Enter during a turn of a Claude screen", async () => {
		const { name } = await launchFake(server, ["--style", "claude", "--turn-forever"]);
		await send(name, "first");
		await until(async () => (await readStatus(makeDrive(server), name)) === "busy", "the turn");
		expect(await send(name, "second")).toBe("queued");
	});

	it("reports NOT CONFIRMED when no key submits although a queued marker already stands there (T133)", async () => {
		const args = ["--style", "codex", "--ignore-enter", "99", "--ignore-tab", "--prelude", "  ↳ an older one"];
		const { name, log } = await launchFake(server, args);
		await expect(send(name, "lost")).rejects.toMatchObject({
			code: "not_confirmed",
			message: expect.stringContaining("NOT CONFIRMED"),
		});
		expect(log.messages()).toEqual([]);
		expect(log.keys()).toEqual(Array(12).fill("Enter"));
	});

	it("presses Enter again when the first one is ignored and sends the message once (R01)", async () => {
		const { name, log } = await launchFake(server, ["--style", "codex", "--ignore-enter", "2"]);
		expect(await send(name, "third time")).toBe("submitted");
		expect(log.messages()).toEqual(["third time"]);
	});

	it("refuses a composer that holds text, and drops that text when told to (T136)", async () => {
		const { name, view, log } = await launchFake(server, ["--style", "codex"]);
		await view.io.type("half a thought");
		await until(async () => (await view.io.tail(9)).includes("half a thought"), "the draft");
		await expect(send(name, "whole")).rejects.toMatchObject({ code: "refused", snippet: "half a thought" });
		expect(await send(name, "whole", { clear: true })).toBe("submitted");
		expect(log.messages()).toEqual(["whole"]);
	});

	it("never types a prompt into a question that waits for a person (R13)", async () => {
		const { name, log } = await launchFake(server, ["--style", "claude", "--ask"]);
		await send(name, "do it");
		await until(async () => (await readStatus(makeDrive(server), name)) === "blocked", "the question");
		const keys = log.keys();
		await expect(send(name, "next")).rejects.toMatchObject({ code: "blocked" });
		expect(log.keys()).toEqual(keys);
	});

	it("waits for a composer that is only being drawn anew", async () => {
		const { name, view, log } = await launchFake(server, ["--style", "codex", "--repaint", "1500"]);
		const drive = makeDrive(server, { ...QUICK, echo: 30_000 });
		await view.io.press("C-l");
		await until(() => log.keys().includes("C-l"), "the key");
		expect(await sendToSession(drive, name, "hello")).toBe("submitted");
		expect(log.messages()).toEqual(["hello"]);
	});

	it("is not fooled by output that looks like an empty composer above the real one (T135)", async () => {
		const frame = `${"─".repeat(100)}\\n❯ \\n${"─".repeat(100)}\\n  ? for shortcuts · ← for agents`;
		const { name, view } = await launchFake(server, ["--style", "claude", "--prelude", frame]);
		await view.io.type("pending");
		await until(async () => (await view.io.tail(9)).includes("pending"), "the draft");
		await expect(send(name, "next")).rejects.toMatchObject({ code: "refused" });
	});

	it("clears and pastes once more when a paste wedges the composer, and sends one message (R03)", async () => {
		const { name, log } = await launchFake(server, ["--style", "codex", "--wedge-once"]);
		expect(await send(name, "a\nb")).toBe("submitted");
		expect(log.messages()).toEqual(["a\nb"]);
	});

	it("claims nothing when the composer stays wedged", async () => {
		const { name, log } = await launchFake(server, ["--style", "codex", "--wedge", "60000"]);
		await expect(send(name, "a\nb")).rejects.toMatchObject({ code: "not_confirmed" });
		expect(log.messages()).toEqual([]);
	});

	it("presses Enter once and claims nothing in a program without a composer", async () => {
		const words = ["sh", "-c", "echo up; exec cat"];
		const view = await launchSession(makeDrive(server), {
			...{ name: "plain-cat", words, profile: "generic", timeoutMs: 30_000, size: { width: 80, height: 24 } },
		});
		await expect(send("plain-cat", "hello")).rejects.toMatchObject({ code: "not_confirmed" });
		expect(await view.io.tail(9)).toBe("up\nhello\nhello");
	});

	it("keeps two messages whole that are sent at the same time", async () => {
		const { name, log } = await launchFake(server, ["--style", "codex"]);
		await Promise.all([send(name, "first\nmessage"), send(name, "second\nmessage")]);
		expect(log.messages().sort()).toEqual(["first\nmessage", "second\nmessage"]);
	});

	it("reports a session that does not exist", async () => {
		await expect(send("nobody", "x")).rejects.toMatchObject({ code: "session_missing" });
	});

	it.each([
		["codex", "!ls", "shell command"],
		["claude", "ends with \\", "final"],
		["codex", " leading", "start"],
	])("refuses %s a text that it would change: %j", async (style, text, reason) => {
		const { name, log } = await launchFake(server, ["--style", style]);
		await expect(send(name, text)).rejects.toThrow(reason);
		expect(log.messages()).toEqual([]);
		await send(name, text, { force: true });
		expect(log.messages()).toEqual([text]);
	});

	it.each([
		"/frobnicate now",
		"@file #tag ?",
		"? what",
		"-n dash",
		"$(x) `y` \"q\" 'z' ~ #{x}",
		"end;",
		";;",
		"a\\;",
		"two\nlines",
		"日本語 🙂 e\u0301 שלום",
		"/home/user/file is a path",
		`long ${"x".repeat(400)}`,
		Array.from({ length: 200 }, (_, index) => `line ${index} of a large paste ${"y".repeat(480)}`).join("\n"),
	])("delivers text number %# byte for byte (R05, R07)", async (text) => {
		const { name, log } = await launchFake(server, ["--style", "codex", "--chip", "300"]);
		expect(await send(name, text)).toBe("submitted");
		expect(log.messages()).toEqual([text]);
	});

	it("normalises CRLF and one final newline and drops control characters that would end a paste", async () => {
		const { name, log } = await launchFake(server, ["--style", "codex"]);
		await send(name, "a\r\nb\u001b[201~c\0\n");
		expect(log.messages()).toEqual(["a\nb[201~c"]);
	});

	it("leaves copy-mode before it types and before it submits", async () => {
		const { name, view, log } = await launchFake(server, ["--style", "codex"]);
		await server.tmux.run(["copy-mode", "-t", view.io.id]);
		expect(await send(name, "through")).toBe("submitted");
		expect(log.messages()).toEqual(["through"]);
	});
});
