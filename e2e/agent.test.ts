import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type RecordedRequest, reply, runProcess, startAnthropicServer, tempHome } from "@prime-agent/testkit";
import { expect, test } from "vitest";

const launcher = resolve(import.meta.dirname, "../agent.sh");

/** A model that reads hello.txt and reports it, or writes output.txt and adapts when it may not. */
function answerLikeAModel(request: RecordedRequest) {
	const text = request.raw;
	if (text.includes("tool_result")) {
		const content = /1 \| (\w+)/.exec(text)?.[1];
		return reply({ text: content ? `It says: ${content}` : "I may not write, so I only report." });
	}
	return text.includes("output.txt")
		? reply({ calls: [{ name: "write_file", arguments: { file_path: "output.txt", content: "test" } }] })
		: reply({ calls: [{ name: "read_file", arguments: { file_path: "hello.txt" } }] });
}

test("the smoke test of the command's specification passes from any folder", async () => {
	await using home = await tempHome();
	await using server = await startAnthropicServer();
	server.script(...Array(4).fill(answerLikeAModel));
	const folder = join(home.path, "project");
	await mkdir(folder);
	await writeFile(join(folder, "hello.txt"), "world");
	const env = { ...home.env, ANTHROPIC_API_KEY: "test-key-0123456789", ANTHROPIC_BASE_URL: server.url };
	const run = (args: string[], variables: Record<string, string> = env) =>
		runProcess(launcher, args, { cwd: folder, env: variables, timeoutMs: 50_000 });

	const basic = await run(["Read hello.txt and tell me what it says"]);
	expect(basic.code).toBe(0);
	expect(basic.stdout).toContain("world");
	expect(basic.stderr).toContain("Done (");
	expect(basic.stderr).toContain("[tool] read");

	const refused = await run(["--permissions", "read-only", "--auto-approve", "Write 'test' to output.txt"]);
	expect(refused.code).toBe(0);
	expect(existsSync(join(folder, "output.txt"))).toBe(false);

	const keyless = await run(["hello"], home.env);
	expect(keyless.code).toBe(1);
	expect(keyless.stderr).toContain("ANTHROPIC_API_KEY");

	const empty = await run([]);
	expect(empty.code).toBe(1);
	expect(server.rejections).toEqual([]);
});
