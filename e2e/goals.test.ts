import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { setUpCli } from "./cli-harness.ts";

const complete = { calls: [{ name: "ipython", arguments: { code: "await goal.complete()" } }] };

it("a goal that is reached ends the program with success", async () => {
	const { run, server } = await setUpCli();
	server.script(reply(complete), reply({ text: "Shipped." }));
	expect(await run(["-p", "/goal Ship it"])).toEqual(
		expect.objectContaining({ code: 0, stdout: "Shipped.\n", stderr: "" }),
	);
});

it.each([[[]], [["--mode", "json"]]])(
	"a goal that is not reached ends the program with 1 and says on stderr how it stands (%j)",
	async (mode) => {
		const { run, server } = await setUpCli();
		server.script(...["a", "b", "c"].map((text) => reply({ text })));
		const { code, stderr } = await run(["-p", ...mode, "/goal Ship it"]);
		expect(code).toBe(1);
		expect(stderr).toMatch(
			/^Error: The goal is not reached\.\nGoal paused \(no_progress\): Ship it\nTokens used: \d+\. Time used: \d+ s\.\n$/,
		);
	},
);

it("a goal whose model fails tells both, and a command that only changes it succeeds", async () => {
	const { run, server, agentFolder } = await setUpCli();
	await writeFile(join(agentFolder, "settings.json"), JSON.stringify({ retry: { enabled: false } }));
	server.script(raw({ status: 500, body: { error: { message: "boom" } } }));
	const failed = await run(["-p", "/goal Ship it"]);
	expect(failed.code).toBe(1);
	expect(failed.stderr).toMatch(/^Error: 500 boom\nGoal active: Ship it\n/);
	expect(await run(["-p", "--continue", "/goal pause"])).toMatchObject({ code: 0, stderr: "" });
	expect(server.modelRequests).toHaveLength(1);
});
