import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reply, waitFor } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { type CliHarness, setUpCli } from "./cli-harness.ts";

const cell = (code: string) => reply({ calls: [{ name: "ipython", arguments: { code } }] });
const KILL = "import os\nos.kill(os.getpid(), 9)";

/** What the model was told a cell gave. */
function resultOf(harness: CliHarness, request: number): string {
	return String(harness.server.modelRequests.at(request)?.body.messages.at(-1)?.content);
}

/** The lines of JSON mode of one type. */
function linesOf(stdout: string, type: string): Record<string, unknown>[] {
	const lines = stdout.trimEnd().split("\n");
	return lines.map((line) => JSON.parse(line)).filter((line) => line.type === type);
}

/** The folder that the only session keeps beside its file, or undefined before there is one. */
async function artifactsOf({ agentFolder }: CliHarness): Promise<string | undefined> {
	const folder = join(agentFolder, "session-artifacts");
	const [name] = existsSync(folder) ? await readdir(folder) : [];
	return name && join(folder, name);
}

it("continues a session with the variables of its cells, and tells the model so", async () => {
	const harness = await setUpCli();
	harness.server.script(
		cell("def double(n): return 2 * n\nx = 21\nlines = (n for n in 'ab')"),
		reply({ text: "kept" }),
		cell("double(x)"),
		reply({ text: "42" }),
	);
	const first = await harness.run(["-p", "first"]);
	expect(first).toMatchObject({ code: 0, stdout: "kept\n" });
	expect(first.stderr).toBe(
		"Not saved with the session: the variable lines (a live generator belongs to its process).\n",
	);
	expect(await harness.run(["-p", "--continue", "second"])).toMatchObject({ code: 0, stdout: "42\n", stderr: "" });
	const told = resultOf(harness, 3);
	expect(told).toMatch(/^\[The session goes on in a new kernel\. Variables restored from a snapshot: double, x\. /);
	expect(told).toContain("Gone: lines (a live generator belongs to its process).");
	expect(told).toMatch(/\n42\n$/);
});

it("keeps variables in a private file that holds no key of the user's (K17)", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("import os\nall = dict(os.environ)\nx = 'kept-value'"), reply({ text: "done" }));
	await harness.run(["-p", "go"], { env: { ACME_API_KEY: "canary-4242" } });
	const folder = await artifactsOf(harness);
	const path = join(folder!, "kernel-state");
	expect(await readdir(folder!)).toEqual(["kernel-state"]);
	expect((await stat(path)).mode & 0o777).toBe(0o600);
	expect((await stat(folder!)).mode & 0o777).toBe(0o700);
	const text = await readFile(path, "latin1");
	expect(text).toContain("kept-value");
	expect(text).not.toContain("canary-4242");
	expect(text).not.toContain("sk-canary");
});

it("shows a key of the environment in no file, no request, no event and no message (K17)", async () => {
	const harness = await setUpCli();
	const look =
		"import os\nall = dict(os.environ)\nprint(all)\n!env; cat /proc/$PPID/environ | tr '\\0' '\\n'\nraise ValueError(str(all))";
	harness.server.script(cell(look), cell(KILL), cell("%env"), cell("print('x' * 200_000)"), reply({ text: "done" }));
	const env = { ACME_API_KEY: "canary-9393", GH_TOKEN: "canary-9394", PRIME_AGENT_DEBUG: "1" };
	const { code, stdout, stderr } = await harness.run(["-p", "--mode", "json", "go"], { env });
	expect(code).toBe(0);
	expect(linesOf(stdout, "notice").filter(({ text }) => /Not visible in cells/.test(String(text)))).toMatchObject([
		{ level: "info", text: expect.stringContaining("ACME_API_KEY, GH_TOKEN") },
	]);
	const names = await readdir(harness.agentFolder, { recursive: true, withFileTypes: true });
	const files = names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
	// the session, what a cell bound, and a long output
	expect(files.length).toBeGreaterThan(2);
	const texts = await Promise.all(files.map((file) => readFile(file, "latin1")));
	const bodies = harness.server.modelRequests.map(({ body }) => JSON.stringify(body));
	expect(bodies.join()).toContain("ValueError");
	for (const text of [stdout, stderr, ...texts, ...bodies]) expect(text).not.toContain("canary-939");
});

it("tells the user and the model how a kernel died, and the model what is lost (K19)", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("x = 1"), cell(KILL), cell("print('x' in globals())"), reply({ text: "done" }));
	const result = await harness.run(["-p", "go"]);
	expect(result).toMatchObject({ code: 0, stdout: "done\n" });
	expect(result.stderr).toBe("Warning: The kernel process was killed by SIGKILL. The next cell gets a new one.\n");
	expect(resultOf(harness, 2)).toContain("[The kernel process was killed by SIGKILL.\nThe next cell gets a new kernel");
	expect(resultOf(harness, 3)).toMatch(
		/^\[The kernel process was killed by SIGKILL\. This cell got a new kernel\. Gone: x\. [^\]]*\]\nFalse\n$/,
	);
});

it("reports the death of a kernel in JSON mode with its signal, and snapshots with what they left out", async () => {
	const harness = await setUpCli();
	harness.server.script(cell(KILL), cell("g = (n for n in 'a')"), reply({ text: "done" }));
	const { stdout } = await harness.run(["-p", "--mode", "json", "go"]);
	expect(linesOf(stdout, "kernel_ended")).toEqual([
		{ type: "kernel_ended", how: "The kernel process was killed by SIGKILL.", signal: "SIGKILL" },
	]);
	const failed = linesOf(stdout, "kernel_save_failed");
	const saved = linesOf(stdout, "kernel_saved");
	expect([...saved, ...failed]).toMatchObject([
		{ count: 0, unsaved: [{ name: "g", why: "a live generator belongs to its process" }] },
	]);
});

it("tells the user which interpreters were tried when no kernel can start", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("1"), cell("2"), reply({ text: "no kernel" }));
	const env = { PRIME_AGENT_KERNEL_PYTHON: "/home/user/no-python" };
	const result = await harness.run(["-p", "go"], { env });
	expect(result).toMatchObject({ code: 0, stdout: "no kernel\n" });
	expect(result.stderr.match(/Warning: The Python kernel cannot start\./g)).toHaveLength(1);
	expect(result.stderr).toContain("/home/user/no-python: ");
	expect(result.stderr).toContain("PRIME_AGENT_KERNEL_PYTHON names /home/user/no-python, which is not there.");
	expect(resultOf(harness, 1)).toContain("The Python kernel cannot start.");
});

it.each(['python3 "$@"', "sleep 600"])(
	"ends a kernel that began as %s when its session cannot open",
	async (program) => {
		const harness = await setUpCli();
		const [python, pids] = [join(harness.agentFolder, "python"), join(harness.agentFolder, "pids")];
		await writeFile(python, `#!/bin/sh\necho $$ >> '${pids}'\nexec ${program}\n`, { mode: 0o755 });
		const { code, stderr } = await harness.run(["-p", "--model", "nope/nope", "go"], {
			env: { PRIME_AGENT_KERNEL_PYTHON: python },
		});
		expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Model "nope/nope" not found') });
		const begun = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
		expect(begun).toHaveLength(1);
		expect(() => process.kill(begun[0]!, 0)).toThrow("ESRCH");
	},
);

it("starts no kernel for a session without cells", async () => {
	const harness = await setUpCli();
	const [python, started] = [join(harness.agentFolder, "python"), join(harness.agentFolder, "started")];
	await writeFile(python, `#!/bin/sh\ntouch '${started}'\nexec python3 "$@"\n`, { mode: 0o755 });
	for (const backend of ["builtin", "ipykernel"]) {
		harness.server.script(reply({ text: "done" }));
		const env = { PRIME_AGENT_KERNEL: backend, PRIME_AGENT_KERNEL_PYTHON: python };
		const { stdout } = await harness.run(["-p", "--no-tools", "go"], { env });
		expect(stdout).toBe("done\n");
		expect(existsSync(started)).toBe(false);
	}
});

it("warns once a session that the built-in kernel stands in, and goes on", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("x = 1"), cell(KILL), cell("6 * 7"), reply({ text: "done" }));
	const env = { PRIME_AGENT_KERNEL: "", PRIME_AGENT_KERNEL_PYTHON: "", PRIME_AGENT_KERNEL_VENV: "/home/user/venv" };
	const result = await harness.run(["-p", "go"], { env });
	expect(result).toMatchObject({ code: 0, stdout: "done\n" });
	expect(resultOf(harness, 3)).toMatch(/42\n$/);
	const warning =
		"Warning: Cells run on the built-in kernel. PRIME_AGENT_KERNEL_VENV names /home/user/venv, and no environment is there. prime-agent kernel install makes one with ipykernel.";
	expect(result.stderr.split("\n").filter((line) => line.includes("built-in kernel"))).toEqual([warning]);
	harness.server.script(cell("1"), reply({ text: "done" }));
	const { stdout } = await harness.run(["-p", "--mode", "json", "go"], { env });
	expect(linesOf(stdout, "kernel_stands_in")).toEqual([
		{
			type: "kernel_stands_in",
			backend: "builtin",
			reason: "PRIME_AGENT_KERNEL_VENV names /home/user/venv, and no environment is there.",
			advice: "prime-agent kernel install makes one with ipykernel.",
		},
	]);
});

it("keeps to the bounds of snapshots in the settings", async () => {
	const harness = await setUpCli();
	const settings = { kernel: { snapshot: { variables: 1 } } };
	await writeFile(join(harness.agentFolder, "settings.json"), JSON.stringify(settings));
	harness.server.script(cell("x = 1\ny = 2"), reply({ text: "done" }));
	const { stdout } = await harness.run(["-p", "--mode", "json", "go"]);
	expect(linesOf(stdout, "kernel_saved")).toMatchObject([
		{ count: 1, unsaved: [{ name: "y", why: "the number of variables is limited to 1" }] },
	]);
});

it("reports in JSON mode that no kernel can start", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("1"), reply({ text: "no kernel" }));
	const env = { PRIME_AGENT_KERNEL_PYTHON: "/home/user/no-python" };
	const { stdout } = await harness.run(["-p", "--mode", "json", "go"], { env });
	expect(linesOf(stdout, "kernel_unavailable")).toMatchObject([{ error: expect.stringContaining("no-python") }]);
});

it.each(["SIGTERM", "SIGKILL"] as const)("goes on with the variables after the program got %s", async (signal) => {
	const harness = await setUpCli();
	harness.server.script(cell("x = 6"), reply({ silence: "before-headers" }), cell("x * 7"), reply({ text: "done" }));
	const live = harness.start(["-p", "first"], { input: "" });
	await waitFor(async () => {
		const folder = await artifactsOf(harness);
		return folder !== undefined && existsSync(join(folder, "kernel-state"));
	}, "a snapshot while the model thinks");
	live.kill(signal);
	await live.done;
	expect(await harness.run(["-p", "--continue", "second"])).toMatchObject({ code: 0, stdout: "done\n" });
	expect(resultOf(harness, 3)).toMatch(/Variables restored from a snapshot: x\.[^\]]*\]\n42\n$/);
});

it("keeps nothing with --no-session", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("x = 1"), reply({ text: "done" }));
	await harness.run(["-p", "--no-session", "go"]);
	expect(await artifactsOf(harness)).toBeUndefined();
});

it("says which processes of cells ended with the session", async () => {
	const harness = await setUpCli();
	harness.server.script(cell("%%bash\nsleep 600 > /dev/null 2>&1 &"), reply({ text: "done" }));
	const { code, stdout, stderr } = await harness.run(["-p", "go"]);
	expect([code, stdout]).toEqual([0, "done\n"]);
	expect(stderr).toMatch(/^Warning: Ended with the kernel: [^\n]*sleep 600[^\n]* \(\d+\)\n$/);
}, 120_000);
