import { expect, it } from "vitest";
import { setUpCli } from "./cli-harness.ts";

it("kernel status shows the kernel that a session gets, why, and every interpreter that was asked", async () => {
	const cli = await setUpCli({ model: "none" });
	const { code, stdout, stderr } = await cli.run(["kernel", "status"]);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(stdout).toMatch(
		/^Kernel: built-in on \/.*python\S* \(Python 3\.\d+\.\d+\)\nNo environment was made for the kernel: /,
	);
	expect(stdout).toContain(`Environment for the kernel: ${cli.agentFolder}/kernel-venv or `);
	expect(stdout).toMatch(
		/Interpreters, in the order in which they are tried:\n {2}\/\S+ \(installed\)\n {4}Python 3\./,
	);
});

it("kernel status as JSON is one object, and its exit code is 1 where no kernel can start", async () => {
	const cli = await setUpCli({ model: "none" });
	const { code, stdout } = await cli.run(["kernel", "status", "--json"], {
		env: { PRIME_AGENT_KERNEL_PYTHON: "/not/there/python3" },
	});
	expect(code).toBe(1);
	expect(JSON.parse(stdout)).toMatchObject({
		kernel: null,
		reason: expect.stringContaining("/not/there/python3: cannot be started"),
		interpreters: [{ python: "/not/there/python3", kind: "explicit", unfit: expect.stringContaining("ENOENT") }],
		installing: null,
	});
});

it("kernel install says what it lacks and exits with 1, without a session, a model or a trace", async () => {
	const cli = await setUpCli({ model: "none" });
	const { code, stdout, stderr } = await cli.run(["kernel", "install", "--python", "/not/there/python3"]);
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr).toMatch(
		/^Error: No environment for the kernel could be made\.\nTried:\n {2}\/not\/there\/python3: cannot be started: .*ENOENT\n/,
	);
	expect(stderr).not.toContain("mistake in prime-agent");
});

it("kernel install refuses a time limit that is none", async () => {
	const cli = await setUpCli({ model: "none" });
	const { code, stderr } = await cli.run(["kernel", "install", "--timeout", "soon"]);
	expect({ code, stderr }).toEqual({
		code: 1,
		stderr: 'Error: --timeout takes seconds, more than 0 and at most 86400, not "soon".\n',
	});
});
