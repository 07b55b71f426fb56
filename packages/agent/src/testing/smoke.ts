import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type RecordedRequest, reply, runProcess, startAnthropicServer, tempHome } from "@prime-agent/testkit";

// The four checks that a change of the command has to pass before anything else. Without arguments a scripted model
// answers on loopback; with --live the real one, for a few cents, by the key in ANTHROPIC_API_KEY.

const launcher = resolve(import.meta.dirname, "../../../../agent.sh");
const isLive = process.argv.includes("--live");

/** A model that reads hello.txt and reports it, or tries to write output.txt and adapts when it may not. */
function answerLikeAModel({ raw }: RecordedRequest) {
	if (raw.includes("tool_result")) {
		const content = /1 \| (\w+)/.exec(raw)?.[1];
		return reply({ text: content ? `It says: ${content}` : "I may not write, so I only report." });
	}
	return raw.includes("output.txt")
		? reply({ calls: [{ name: "write_file", arguments: { file_path: "output.txt", content: "test" } }] })
		: reply({ calls: [{ name: "read_file", arguments: { file_path: "hello.txt" } }] });
}

let failures = 0;

function check(name: string, holds: boolean, seen: string): void {
	console.log(`${holds ? "ok  " : "FAIL"} ${name}`);
	if (holds) return;
	failures++;
	console.log(seen.replace(/^/gm, "     "));
}

const home = await tempHome();
const server = await startAnthropicServer();
try {
	server.script(...Array(4).fill(answerLikeAModel));
	const cwd = join(home.path, "project");
	await mkdir(cwd);
	await writeFile(join(cwd, "hello.txt"), "world");
	const access: Record<string, string> = isLive
		? { ANTHROPIC_API_KEY: process.env.ANTHROPIC_API_KEY ?? "" }
		: { ANTHROPIC_API_KEY: "test-key-0123456789", ANTHROPIC_BASE_URL: server.url };
	const run = async (args: string[], variables: Record<string, string> = access) => {
		const result = await runProcess(launcher, args, { cwd, env: { ...home.env, ...variables }, timeoutMs: 120_000 });
		return { ...result, seen: `exit code ${result.code}\n${result.stdout}\n${result.stderr}` };
	};

	const basic = await run(["Read hello.txt and tell me what it says"]);
	check("a run succeeds", basic.code === 0, basic.seen);
	check("the answer is on stdout", basic.stdout.includes("world"), basic.seen);
	check("the summary is on stderr", basic.stderr.includes("Done ("), basic.seen);
	check("the tool call is on stderr", basic.stderr.includes("[tool] read"), basic.seen);

	const refused = await run(["--permissions", "read-only", "--auto-approve", "Write 'test' to output.txt"]);
	check("a refused call is no failure", refused.code === 0, refused.seen);
	check("what is refused is not done", !existsSync(join(cwd, "output.txt")), refused.seen);

	const keyless = await run(["hello"], {});
	check("a missing key fails", keyless.code === 1, keyless.seen);
	check("a missing key is named", keyless.stderr.includes("ANTHROPIC_API_KEY"), keyless.seen);

	const empty = await run([]);
	check("no arguments fail", empty.code === 1, empty.seen);
	check("the model was asked as it wants to be", server.rejections.length === 0, JSON.stringify(server.rejections));
} finally {
	await server.close();
	await home.dispose();
}
process.exitCode = failures === 0 ? 0 : 1;
