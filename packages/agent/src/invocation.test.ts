import { raw, reply, runProcess } from "@prime-agent/testkit";
import { findDefaultModel, findKeyVariable, providerNames } from "@prime-agent/toolset";
import { describe, expect, test } from "vitest";
import { makeAgent } from "./testing/agent.ts";

const hi = reply({ text: "Hi there" });

/** The text of the last user message of an Anthropic request. */
function lastUserText(body: { messages: { role: string; content: unknown }[] }): unknown {
	const content = body.messages.findLast((message) => message.role === "user")?.content;
	return Array.isArray(content) ? content.map((part) => part.text).join("") : content;
}

function toolNames(body: { tools?: unknown[] }): string[] {
	const tools = (body.tools ?? []) as { name?: string; functionDeclarations?: { name: string }[] }[];
	return tools.flatMap((tool) => tool.functionDeclarations?.map((one) => one.name) ?? [tool.name ?? ""]);
}

describe.concurrent("the command line", () => {
	test("a prompt is sent as it is and the answer is printed", async () => {
		await using at = await makeAgent({ script: [hi] });
		const result = await at.run("  hello world ");
		expect(result).toMatchObject({ code: 0, stdout: "Hi there\n" });
		expect(result.stderr).toMatch(/(^|\n)Done \(1 turns, 0 tool calls, \d+\.\dk tokens\)\n$/);
		expect(lastUserText(at.server.requests[0]!.body)).toBe("  hello world ");
	});

	test.each([
		["no prompt", [], /prompt is missing/],
		["an empty prompt", [""], /prompt is empty/],
		["a blank prompt", ["  "], /prompt is empty/],
		["two prompts", ["a", "b"], /"b"/],
		["an unknown option", ["--temperature", "1", "x"], /--temperature\. A prompt that begins with - goes behind --\./],
		["a misspelt option", ["--permission", "full", "x"], /option --permission\. Did you mean --permissions\?/],
		["a misspelt option with its value", ["--provder=openai", "x"], /Did you mean --provider\?/],
		["an unknown short option", ["-x", "x"], /-x/],
		["a name of an object's own method as an option", ["--toString", "x"], /--toString/],
		["an unknown provider", ["--provider", "foo", "x"], /"foo".*anthropic, openai, gemini/],
		["an unknown level", ["--permissions", "all", "x"], /"all".*read-only, read-write, full/],
		["an option without its value", ["x", "--model"], /--model needs a value/],
		["an option with an empty value", ["x", "--model="], /--model needs a value/],
		["an option in place of a value", ["x", "--model", "--debug"], /--model needs a value/],
		["an option given twice", ["x", "--model", "a", "--model", "b"], /--model is given twice/],
		["a value for a switch", ["x", "--debug=1"], /--debug takes no value/],
	])("%s is a usage error that reaches no model", async (_name, args, message) => {
		await using at = await makeAgent();
		const result = await at.run(...args);
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toMatch(message);
		expect(result.stderr).toContain("Usage: agent [OPTIONS] <PROMPT>");
		expect(at.server.requests).toEqual([]);
	});

	test("options may stand behind the prompt and carry their value after =", async () => {
		await using at = await makeAgent({ provider: "openai", script: [hi] });
		expect((await at.run("x", "--provider=openai", "--model=m")).code).toBe(0);
		expect(at.server.requests[0]).toMatchObject({ path: "/v1/responses", body: { model: "m" } });
	});

	test("behind -- a prompt may begin with a dash", async () => {
		await using at = await makeAgent({ script: [hi] });
		expect((await at.run("--", "-v")).code).toBe(0);
		expect(lastUserText(at.server.requests[0]!.body)).toBe("-v");
	});

	test.each(["--help", "-h"])("%s lists the five options on stdout", async (flag) => {
		await using at = await makeAgent({ env: { ANTHROPIC_API_KEY: undefined } });
		const result = await at.run(flag);
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect([...new Set(result.stdout.match(/--[a-z-]+/g))].sort()).toEqual([
			"--auto-approve",
			"--debug",
			"--help",
			"--model",
			"--permissions",
			"--provider",
		]);
	});
});

describe.concurrent("the provider", () => {
	test("anthropic is asked in its own format with edit_file and without apply_patch", async () => {
		await using at = await makeAgent({ script: [hi] });
		await at.run("x", "--provider", "anthropic");
		const [request] = at.server.requests;
		expect(request?.path).toMatch(/^\/v1\/messages(\?|$)/);
		expect(request?.headers).toMatchObject({
			"x-api-key": "test-key-0123456789",
			"anthropic-version": "2023-06-01",
		});
		expect(toolNames(request?.body)).toContain("edit_file");
		expect(toolNames(request?.body)).not.toContain("apply_patch");
	});

	test("openai is asked in its own format with apply_patch and without edit_file", async () => {
		await using at = await makeAgent({ provider: "openai", script: [hi] });
		await at.run("x", "--provider", "openai");
		const [request] = at.server.requests;
		expect(request).toMatchObject({
			path: "/v1/responses",
			headers: { authorization: "Bearer test-key-0123456789" },
		});
		expect(toolNames(request?.body)).toContain("apply_patch");
		expect(toolNames(request?.body)).not.toContain("edit_file");
	});

	test("gemini is asked in its own format with its own tools", async () => {
		await using at = await makeAgent({ provider: "gemini", script: [hi] });
		await at.run("x", "--provider", "gemini");
		const [request] = at.server.requests;
		expect(request?.path).toMatch(/^\/v1beta\/models\/[^/]+:streamGenerateContent\?alt=sse$/);
		expect(toolNames(request?.body)).toEqual(expect.arrayContaining(["list_dir", "read_many_files"]));
	});

	test.each(providerNames)("%s uses the default model of the catalogue", async (provider) => {
		await using at = await makeAgent({ provider, script: [hi] });
		expect((await at.run("x", "--provider", provider)).code).toBe(0);
		const [request] = at.server.requests;
		expect(`${request?.path} ${request?.body.model}`).toContain(findDefaultModel(provider));
	});

	test("another model changes neither the format nor the tools", async () => {
		await using at = await makeAgent({ script: [hi] });
		await at.run("x", "--provider", "anthropic", "--model", "gpt-9");
		const [request] = at.server.requests;
		expect(request?.path).toMatch(/^\/v1\/messages/);
		expect(request?.body.model).toBe("gpt-9");
		expect(toolNames(request?.body)).toContain("edit_file");
		expect(toolNames(request?.body)).not.toContain("apply_patch");
	});

	test.each(providerNames)(
		"%s without its key fails with the name of the variable and asks nobody",
		async (provider) => {
			for (const value of [undefined, ""]) {
				const variable = findKeyVariable(provider);
				await using at = await makeAgent({ provider, env: { [variable]: value } });
				const result = await at.run("x", "--provider", provider);
				expect(result).toMatchObject({ code: 1, stdout: "" });
				expect(result.stderr).toContain(variable);
				expect(result.stderr).not.toContain("Done (");
				expect(at.server.requests).toEqual([]);
			}
		},
	);

	test("the keys of other providers and a .env file are not read", async () => {
		await using at = await makeAgent({
			provider: "openai",
			env: { OPENAI_API_KEY: undefined, ANTHROPIC_API_KEY: "other-key-0123456789" },
			files: { ".env": "OPENAI_API_KEY=test-key-0123456789\n" },
		});
		const result = await at.run("x", "--provider", "openai");
		expect(result.code).toBe(1);
		expect(result.stderr).toContain("OPENAI_API_KEY");
	});

	test("other credentials of the environment reach no request", async () => {
		await using at = await makeAgent({
			script: [hi],
			env: {
				ANTHROPIC_AUTH_TOKEN: "canary-token-0123",
				OPENAI_API_KEY: "canary-key-0123",
				GOOGLE_API_KEY: "canary-g-0123",
			},
		});
		expect((await at.run("x")).code).toBe(0);
		const [request] = at.server.requests;
		expect(JSON.stringify([request?.headers, request?.raw])).not.toContain("canary");
	});

	test.each([
		["anthropic", "", /^\/v1\/messages/],
		["anthropic", "/", /^\/v1\/messages/],
		["anthropic", "/v1", /^\/v1\/messages/],
		["openai", "", /^\/v1\/responses/],
		["openai", "/", /^\/v1\/responses/],
		["openai", "/v1", /^\/v1\/responses/],
		["gemini", "/", /^\/v1beta\/models\//],
		["gemini", "/v1beta", /^\/v1beta\/models\//],
	] as const)("%s is reached at the same path with %j behind the base URL", async (provider, suffix, path) => {
		await using at = await makeAgent({ provider, script: [hi], baseUrl: (server) => server.url + suffix });
		expect((await at.run("x", "--provider", provider)).code).toBe(0);
		expect(at.server.requests[0]?.path).toMatch(path);
	});

	test("a base URL that is none is an error that names its variable", async () => {
		await using at = await makeAgent({ baseUrl: () => "localhost:8080" });
		const result = await at.run("x");
		expect(result.code).toBe(1);
		expect(result.stderr).toContain("ANTHROPIC_BASE_URL");
	});
});

describe.concurrent("the surroundings", () => {
	test("the agent works in the folder where it was started, and the prompt says so", async () => {
		await using at = await makeAgent({
			below: "sub",
			files: { "hello.txt": "world of the sub-folder\n" },
			script: [reply({ calls: [{ name: "read_file", arguments: { file_path: "hello.txt" } }] }), hi],
		});
		expect((await at.run("x")).code).toBe(0);
		expect(at.server.requests[0]?.raw).toContain(`Working directory: ${at.folder}`);
		expect(at.server.requests[1]?.raw).toContain("world of the sub-folder");
	});

	test("a folder that was removed is told in words", async () => {
		await using at = await makeAgent();
		const script = 'mkdir gone && cd gone && rmdir "$PWD" && exec "$@"';
		const result = await runProcess("/bin/sh", ["-c", script, "sh", process.execPath, at.main, "x"], {
			cwd: at.folder,
			env: at.env,
			timeoutMs: 50_000,
		});
		expect(result).toEqual({
			...result,
			code: 1,
			stdout: "",
			stderr: "error: The current folder is gone. Change into one that exists and start again.\n",
		});
	});

	test("standard input is not read", async () => {
		await using at = await makeAgent({ script: [hi] });
		const result = await at.runWithInput("secret input ".repeat(80_000), "x");
		expect(result.code).toBe(0);
		expect(at.server.requests[0]?.raw).not.toContain("secret input");
	});

	test("project documents are part of the prompt", async () => {
		await using at = await makeAgent({ files: { "CLAUDE.md": "Prefer tabs here." }, script: [hi] });
		await at.run("x");
		expect(at.server.requests[0]?.raw).toContain("Prefer tabs here.");
	});

	test("a refused key ends in one error line, the summary and exit code 1", async () => {
		await using at = await makeAgent({
			script: [
				raw({
					status: 401,
					body: { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
				}),
			],
		});
		const result = await at.run("x");
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toMatch(
			/^error: [^\n]*ANTHROPIC_API_KEY[^\n]*\nDone \(0 turns, 0 tool calls, 0\.0k tokens\)\n$/,
		);
		expect(result.stderr).not.toContain("test-key");
	});
});
