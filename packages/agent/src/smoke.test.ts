import { join } from "node:path";
import { runProcess, tempHome } from "@prime-agent/testkit";
import { expect, test } from "vitest";

const script = join(import.meta.dirname, "testing/smoke.ts");

test("the smoke script passes with a scripted model and says what it checked", async () => {
	await using home = await tempHome();
	const result = await runProcess(process.execPath, [script], { env: home.env, timeoutMs: 50_000 });
	expect(result).toMatchObject({ code: 0, stderr: "" });
	const lines = result.stdout.trimEnd().split("\n");
	expect(lines).toHaveLength(10);
	expect(lines.filter((line) => !line.startsWith("ok   "))).toEqual([]);
});

test("the smoke script fails and shows the output where a check does not hold", async () => {
	// Without a key the real model cannot be asked, so nothing costs anything here.
	await using home = await tempHome();
	const result = await runProcess(process.execPath, [script, "--live"], { env: home.env, timeoutMs: 50_000 });
	expect(result.code).toBe(1);
	expect(result.stdout).toContain("FAIL a run succeeds\n     exit code 1\n");
	expect(result.stdout).toContain("error: ANTHROPIC_API_KEY is not set.");
});
