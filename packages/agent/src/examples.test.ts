import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { reply, type Step, waitFor } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { makeAgent } from "./testing/agent.ts";

const root = join(import.meta.dirname, "../../..");

/** What a document shows: a command line and, below it, all that appears in the terminal. */
interface Example {
	document: string;
	args: string;
	shown: string;
}

function readExamples(document: string): Example[] {
	const text = readFileSync(join(root, document), "utf8");
	const blocks = text.matchAll(/^```text\n\$ (?:\.\/agent\.sh|agent) (.*)\n([\s\S]*?)^```$/gm);
	return [...blocks].map(([, args = "", shown = ""]) => ({ document, args, shown }));
}

const examples = ["README.md", "docs/guide/agent.md"].flatMap(readExamples);

const files = {
	"src/price.js": "export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);\n",
	"src/price.test.js": [
		'import assert from "node:assert";',
		'import { test } from "node:test";',
		'import { total } from "./price.js";',
		'test("one of each", () => assert.equal(total([{ price: 2, quantity: 1 }]), 2));',
		"",
	].join("\n"),
	"package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
};

const usage = { input: 1920, output: 40 };
const call = (name: string, args: object) => reply({ usage, calls: [{ name, arguments: args }] });
const say = (text: string) => reply({ usage, text });
const read = call("read_file", { file_path: "src/price.js" });
const runTests = call("shell", { command: "npm test", timeout_ms: 100_000 });

/** What the model answers to each prompt of the examples; the tools and their results are real. */
const scripts: Record<string, Step[]> = {
	"Where is the total of an order computed?": [
		call("grep", { pattern: "total", path: "src/price.js" }),
		read,
		say("In `total` in src/price.js, line 1. It adds up the prices and leaves the quantities out."),
	],
	"Let the total count the quantity of each item": [
		read,
		call("edit_file", {
			file_path: "src/price.js",
			old_string: "{ price }) => sum + price",
			new_string: "{ price, quantity }) => sum + price * quantity",
		}),
		runTests,
		say("`total` in src/price.js now multiplies each price by its quantity. The test passes."),
	],
	"Run the tests and say what fails": [runTests, say("All tests pass: one test, in src/price.test.js.")],
};

describe("the examples of the documents", () => {
	test("show each permission level once per document", () => {
		const level = (args: string) => /--permissions (\S+)/.exec(args)?.[1] ?? "read-write";
		for (const document of ["README.md", "docs/guide/agent.md"]) {
			const levels = examples.filter((one) => one.document === document).map(({ args }) => level(args));
			expect(levels.sort()).toEqual(["full", "read-only", "read-write"]);
		}
	});

	test.concurrent.each(examples)("$document: agent $args", async ({ args, shown }) => {
		const [, prompt = ""] = /"(.*)"$/.exec(args) ?? [];
		await using at = await makeAgent({ files, script: scripts[prompt] ?? [] });
		const terminal = spawn("/bin/sh", ["-c", `"$NODE" "$MAIN" ${args}`], {
			cwd: at.folder,
			cols: 200,
			env: { ...at.env, NODE: process.execPath, MAIN: at.main },
		});
		let screen = "";
		terminal.onData((data) => {
			screen += data;
		});
		const { promise: exit, resolve } = Promise.withResolvers<number>();
		terminal.onExit(({ exitCode }) => resolve(exitCode));
		const answer = /^Allow\? .* (\w)$/m.exec(shown)?.[1];
		if (answer) {
			await waitFor(() => screen.includes("Allow? "), "the question", 40_000);
			terminal.write(`${answer}\r`);
		}
		expect(await exit).toBe(0);
		await waitFor(() => screen.includes("Done ("), "the summary", 10_000);
		expect(screen.replaceAll("\r\n", "\n")).toBe(shown);
		const results = at.server.modelRequests.map(({ raw }) => raw).join("\n");
		expect(results).not.toContain('"is_error":true');
		if (args.includes("test")) expect(results).toContain("pass 1");
	});
});
