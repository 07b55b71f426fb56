import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";

test("a known secret disappears from texts in its plain, URL and JSON form", () => {
	const redactor = createRedactor('pass"word/1');
	expect(redactor.text('a pass"word/1 b')).toBe("a [redacted] b");
	expect(redactor.text("?x=pass%22word%2F1")).toBe("?x=[redacted]");
	expect(redactor.text(JSON.stringify({ k: 'pass"word/1' }))).toBe('{"k":"[redacted]"}');
});

test("credential headers are hidden, and their values are known from then on", () => {
	const redactor = createRedactor();
	const headers = new Headers({
		authorization: "Bearer canary-bearer-value",
		"x-api-key": "canary-x-api-key",
		"x-goog-api-key": "canary-goog-key",
		"api-key": "canary-azure-key",
		cookie: "sid=canary-cookie",
		"x-request-id": "echo canary-x-api-key",
		accept: "text/event-stream",
	});
	const shown = redactor.headers(headers);
	expect(JSON.stringify(shown)).not.toContain("canary");
	expect(shown.accept).toBe("text/event-stream");
	expect(redactor.text("the server says canary-bearer-value is wrong")).toBe("the server says [redacted] is wrong");
});

test("keys in URLs are hidden in parameters and user information", () => {
	const redactor = createRedactor();
	const shown = redactor.url("https://user:canary-pass@api.example.com/v1?key=canary-key&alt=sse");
	expect(shown).toBe("https://api.example.com/v1?key=redacted&alt=sse");
	expect(redactor.text("canary-key")).toBe("[redacted]");
});

test.each([
	"Bearer abcdefghijklmnop",
	"sk-ant-api03-abcdefghijklmnop",
	"sk-proj-abcdefghijklmnop",
	"AIzaSyA1234567890abcdefghijk",
	"ghp_abcdefghijklmnop1234",
	"AKIAABCDEFGHIJKLMNOP",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig",
])("'%s' looks like a credential and is hidden wherever it stands", (secret) => {
	const clean = createRedactor().text(`before ${secret}, after`);
	expect(clean).not.toContain(secret.replace(/^Bearer /, ""));
	expect(clean).toMatch(/^before .*\[redacted\], after$/);
});

test("ordinary words stay, short values too", () => {
	const redactor = createRedactor("ab", "");
	expect(redactor.text("ab task-runner and risk-taking are fine")).toBe("ab task-runner and risk-taking are fine");
});

test("the shortest text that can be a credential is hidden", () => {
	expect(createRedactor().text("Basic abcdefgh")).toBe("Basic [redacted]");
});
