import { reply, sharedPrefix, startAnthropicServer } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { setUpCli } from "./cli-harness.ts";

it("works with the default Anthropic model through cells and a second run, and keeps every message as it was sent", async () => {
	const { run } = await setUpCli({ model: "none" });
	const server = await startAnthropicServer();
	onTestFinished(() => server.close());
	const cell = (code: string) => ({ name: "ipython", arguments: { code } });
	server.script(
		reply({ thinking: "A variable first.", text: "I set it.", calls: [cell("x = 41")] }),
		reply({ thinking: "Now count.", calls: [cell("print(x + 1)")] }),
		reply({ text: "The answer is 42." }),
		reply({ text: "Still 42." }),
	);
	const env = { ANTHROPIC_API_KEY: "sk-canary-0123456789", ANTHROPIC_BASE_URL: server.baseUrl };
	expect(await run(["-p", "compute it"], { env })).toMatchObject({ code: 0, stdout: "The answer is 42.\n" });
	expect(await run(["-p", "--continue", "sure?"], { env })).toMatchObject({ code: 0, stdout: "Still 42.\n" });
	expect(server.rejections.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
	const requests = server.modelRequests;
	expect(requests.map(({ body }) => body.model)).toEqual(Array(4).fill("claude-sonnet-5-5"));
	expect(requests[2]!.raw).toContain("42");
	for (const [index, request] of requests.slice(1).entries()) {
		const report = sharedPrefix(requests[index]!, request, { ignore: ["cache_control"] });
		expect({ index, ...report }).toMatchObject({ isPrefix: true });
	}
});

it("names the variable whose key Anthropic refused, and says once how to renew it", async () => {
	const { run } = await setUpCli({ model: "none" });
	const server = await startAnthropicServer({ apiKey: "right" });
	onTestFinished(() => server.close());
	const env = { ANTHROPIC_API_KEY: "sk-canary-0123456789", ANTHROPIC_BASE_URL: server.baseUrl };
	const { code, stderr } = await run(["-p", "hi"], { env });
	expect(code).toBe(1);
	expect(stderr).toMatch(
		/\nError: 401 invalid x-api-key\nanthropic refused the key in ANTHROPIC_API_KEY\.\n\nRun \/login [^\n]*\n$/,
	);
	expect(stderr).not.toContain("canary");
});
