import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runProcess, startProcess } from "./run.ts";
import { waitFor } from "./wait.ts";

const node = process.execPath;

/** A process that ended but was not yet collected by its parent counts as gone. */
function isAlive(pid: number): boolean {
	const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
	return stdout.trim() !== "" && !stdout.startsWith("Z");
}

describe("runProcess", () => {
	it("gives the exit code and both outputs of a program that got input", async () => {
		const script =
			"process.stdin.on('data', d => { process.stdout.write(d); console.error('err'); process.exitCode = 3 })";
		const result = await runProcess(node, ["-e", script], { input: "häh" });
		expect(result).toMatchObject({ code: 3, signal: null, stdout: "häh", stderr: "err\n", timedOut: false });
	});

	it("gives an empty standard input to a program when none is given", async () => {
		const script = "process.stdin.on('data', () => {}).on('end', () => console.log('end'))";
		expect((await runProcess(node, ["-e", script])).stdout).toBe("end\n");
	});

	it("kills a program that hangs together with its children at the guard", async () => {
		// The odd time tells this child from every other one, whether or not it has started when the guard strikes.
		const command = `sleep 1000.${process.pid}`;
		const result = await runProcess("/bin/sh", ["-c", `${command} & wait`], { timeoutMs: 300 });
		expect(result).toMatchObject({ code: null, signal: "SIGKILL", timedOut: true });
		const isGone = () => !spawnSync("ps", ["-eo", "args="], { encoding: "utf8" }).stdout.split("\n").includes(command);
		await waitFor(isGone, "the child to be gone");
	});

	it("leaves no child behind when the program itself ends normally", async () => {
		const result = await runProcess("/bin/sh", ["-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]);
		expect(result.code).toBe(0);
		await waitFor(() => !isAlive(Number(result.stdout)), "the child to be gone");
	});

	it("ends when the program ends although a child holds its output open", async () => {
		const result = await runProcess("/bin/sh", ["-c", "sleep 1000 & echo $!"]);
		expect(result).toMatchObject({ code: 0, timedOut: false });
		await waitFor(() => !isAlive(Number(result.stdout)), "the child to be gone");
	});

	it("sends a planned signal once the output matches", async () => {
		const script =
			"process.on('SIGINT', () => { console.log('int'); process.exit(7) }); console.log('ready'); setInterval(() => {}, 1000)";
		const result = await runProcess(node, ["-e", script], { signals: [{ signal: "SIGINT", afterOutput: /ready/ }] });
		expect(result).toMatchObject({ code: 7, stdout: "ready\nint\n" });
	});

	it("rejects for a program that does not exist", async () => {
		await expect(runProcess("/nonexistent/program", [])).rejects.toThrow("ENOENT");
	});
});

describe("startProcess", () => {
	it("answers output as it comes and takes input", async () => {
		await using live = startProcess("/bin/cat", []);
		live.write("one\n");
		expect((await live.waitForOutput(/^o(n)e$/m))[1]).toBe("n");
		live.endInput();
		expect((await live.done).code).toBe(0);
	});

	it("reports what was written when a program ends without the awaited output", async () => {
		await using live = startProcess("/bin/sh", ["-c", "echo other"]);
		await expect(live.waitForOutput(/never/)).rejects.toThrow(/ended without \/never\/ on stdout.\nstdout: other/);
	});

	it("kills the whole group of a live program when it is disposed", async () => {
		let pid: number;
		{
			await using live = startProcess("/bin/sh", ["-c", "sleep 1000 & echo $!; wait"]);
			pid = Number((await live.waitForOutput(/\d+\n/))[0]);
		}
		await waitFor(() => !isAlive(pid), "the child to be gone");
	});
});
