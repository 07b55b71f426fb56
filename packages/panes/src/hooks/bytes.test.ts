import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runAgentTmux } from "../testing/command.ts";
import type { PrivateServer } from "../testing/tmux-server.ts";
import { HARNESSES } from "./harness.ts";

const JSON_TEXTS = [
	'{"hooks":{},"a":1}',
	'{\r\n  "a": "\\u00e9 \\/",\r\n  "hooks": { "Stop": [] }\r\n}\r\n',
	'{ "numbers": [1.0, 1e3, 12345678901234567890], "b": {} }   \n\n',
	"{}",
	"",
	"  \n",
];

describe("hooks that come and go", () => {
	let home: string;
	beforeEach(() => {
		home = mkdtempSync(join(tmpdir(), "bytes-"));
	});
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	const harnesses = HARNESSES.filter((harness) => harness.path("/h", {}).endsWith(".json"));
	const cases = harnesses.flatMap((harness) => JSON_TEXTS.map((text) => [harness.name, text, harness] as const));

	it.each(cases)("leave the settings of %s as they were, byte for byte: %j", async (name, text, harness) => {
		const path = harness.path(home, {});
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, text);
		chmodSync(path, 0o644);
		const server = { folder: home, name: "none", env: { HOME: home, PATH: home } } as unknown as PrivateServer;
		const env = { AGENT_TMUX_BIN: "/opt/agent-tmux/agent-tmux.sh" };
		const run = (verb: string) => runAgentTmux(server, ["hooks", verb, "--agent", name, "--yes"], { env });
		expect(await run("install")).toMatchObject({ code: 0 });
		expect(readFileSync(path, "utf8")).toContain("agent-tmux.sh");
		expect(await run("uninstall")).toMatchObject({ code: 0 });
		expect(readFileSync(path, "utf8")).toBe(text);
		expect(statSync(path).mode & 0o077).toBe(0);
	});
});
