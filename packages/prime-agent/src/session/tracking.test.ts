import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const SCRIPT = `
import { executionAsyncId } from "node:async_hooks";
const { openBench } = await import(process.argv[1]);
const { reply } = await import("@prime-agent/testkit");
const bench = openBench({ steps: [reply({ text: "done" })] });
const { stage } = await bench.say("go");
process.stdout.write(stage + " " + (await Promise.resolve().then(executionAsyncId)));
`;

// Once anything tracks what promises belong to, Node 22 calls it at each of them, and a step takes a tenth longer.
test("a turn leaves promises untracked", async () => {
	const harness = new URL("testing/harness.ts", import.meta.url).href;
	const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", SCRIPT, harness];
	const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
	expect(stdout).toBe("completed 0");
});
