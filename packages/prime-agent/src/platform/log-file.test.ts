import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLogFile } from "./log-file.ts";

const newPath = () => join(mkdtempSync(join(tmpdir(), "log-")), "logs", "agent.jsonl");

test("a line is JSON with time and process, in a file for its owner only", () => {
	const path = newPath();
	openLogFile(path, (text) => text).write({ level: "error", event: "fatal", error: "no" });
	const line = JSON.parse(readFileSync(path, "utf8")) as object;
	expect(line).toMatchObject({ level: "error", event: "fatal", error: "no", pid: process.pid });
	expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
});

test("a log that nobody writes to leaves no file", () => {
	const path = newPath();
	openLogFile(path, (text) => text);
	expect(() => statSync(path)).toThrow("ENOENT");
});

test("credentials are taken out of every line", () => {
	const path = newPath();
	openLogFile(path, (text) => text.replaceAll("sk-canary", "[redacted]")).write({ level: "debug", event: "sk-canary" });
	expect(readFileSync(path, "utf8")).toContain("[redacted]");
});

test("a full file makes place for a new one and only one older file is kept", () => {
	const path = newPath();
	const log = openLogFile(path, (text) => text);
	log.write({ level: "debug", event: "first" });
	for (const size of [3, 4]) {
		writeFileSync(path, Buffer.alloc(size * 1024 * 1024));
		log.write({ level: "debug", event: "next" });
	}
	expect(readdirSync(join(path, "..")).sort()).toEqual(["agent.jsonl", "agent.jsonl.1"]);
	expect(statSync(path).size).toBeLessThan(1000);
	expect(statSync(`${path}.1`).size).toBe(4 * 1024 * 1024);
});

test("a log that cannot be written does not stop the program", () => {
	const folder = mkdtempSync(join(tmpdir(), "log-"));
	writeFileSync(join(folder, "file"), "");
	expect(() =>
		openLogFile(join(folder, "file", "x.jsonl"), (text) => text).write({ level: "debug", event: "x" }),
	).not.toThrow();
});
