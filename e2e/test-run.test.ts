import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Clone, makeClone } from "./testing/clone.ts";

const spec = (...tests: string[]) => `import { expect, it } from "vitest";\n${tests.join("\n")}\n`;
const passing = 'it("passes", () => { expect(process.env.HOME).toBeTruthy(); });';
const failing = 'it("fails here", () => { expect(1).toBe(2); });';
const skipped = 'it.skip("needs something", () => undefined);';
const python = `import unittest
class T(unittest.TestCase):
    def test_passes(self): pass
    @unittest.skip("without a reason")
    def test_skipped(self): pass
`;

/** A clone with one test file, a Python test and no packages to bring. */
async function makeTested(...tests: string[]): Promise<Clone> {
	const clone = await makeClone();
	await clone.write("packages/prime-agent/src/some.test.ts", spec(...tests));
	await clone.write("prime-agent-runtime/tests/test_some.py", python);
	await clone.write("scripts/debian-packages", "# none\n");
	return clone;
}

const runTests = (clone: Clone, ...args: string[]) => clone.run(args, { program: join(clone.path, "test.sh") });
const lastLine = (stdout: string) => stdout.trimEnd().split("\n").at(-1);

describe("./test.sh", () => {
	it("sums checks, vitest and unittest in its last line", async () => {
		await using clone = await makeTested(passing, skipped);
		const { code, stdout } = await runTests(clone);
		expect(lastLine(stdout)).toBe("8 passed, 0 failed, 2 skipped");
		expect(stdout).toContain("left out: needs something\n");
		expect(code).toBe(0);
	});

	it("fails and names what failed when a test fails", async () => {
		await using clone = await makeTested(passing, failing);
		const { code, stdout } = await runTests(clone);
		expect(lastLine(stdout)).toBe("8 passed, 1 failed, 1 skipped");
		expect(stdout).toContain("failed: fails here\n");
		expect(code).toBe(1);
	});

	it("goes on after a check that fails, and fails at the end", async () => {
		await using clone = await makeTested(passing);
		await clone.set("check-fails", true);
		const { code, stdout } = await runTests(clone);
		expect(lastLine(stdout)).toBe("3 passed, 5 failed, 1 skipped");
		expect(stdout).toContain("failed: check:types\n");
		expect(code).toBe(1);
	});

	it("runs only the matching test files when a pattern is given", async () => {
		await using clone = await makeTested(passing);
		const { code, stdout } = await runTests(clone, "some");
		expect(lastLine(stdout)).toBe("2 passed, 0 failed");
		expect(code).toBe(0);
	});

	it("fails when no test ran", async () => {
		await using clone = await makeTested(passing);
		const { code, stdout } = await runTests(clone, "no-such-file");
		expect(lastLine(stdout)).toBe("1 passed, 1 failed");
		expect(code).toBe(1);
	});

	it("counts a bundle that cannot be built as a failure and goes on", async () => {
		await using clone = await makeTested(passing);
		await clone.write("packages/prime-agent/src/main.ts", "const = ;\n");
		const { code, stdout } = await runTests(clone, "some");
		expect(lastLine(stdout)).toBe("1 passed, 1 failed");
		expect(stdout).toContain("failed: check:build\n");
		expect(code).toBe(1);
	});

	it("closes with a failure when the set-up fails", async () => {
		await using clone = await makeTested(passing);
		await clone.set("npm-fails", true);
		const { code, stdout, stderr } = await runTests(clone);
		expect(stdout).toBe("0 passed, 1 failed\n");
		expect(stderr).toContain("npm ci");
		expect(code).toBe(1);
	});

	it("names what is left out and the command that helps when packages are missing and it is not root", async () => {
		await using clone = await makeTested(passing);
		await clone.write("scripts/debian-packages", "some-package\tno-such-command\tthe tests of something\n");
		await clone.writeProgram("id", "#!/bin/sh\necho 1000\n");
		const { code, stderr } = await runTests(clone, "some");
		expect(stderr).toContain("test: left out, because some-package is missing: the tests of something\n");
		expect(stderr).toContain("test: try: sudo apt-get install some-package\n");
		expect(code).toBe(0);
	});

	it("brings the missing packages as root, waiting for another installation, and only those", async () => {
		await using clone = await makeTested(passing);
		const list = "have\tsh\tnothing\nsome-package\tno-such-command\tthe tests of something\n";
		await clone.write("scripts/debian-packages", list);
		await clone.writeProgram("id", "#!/bin/sh\necho 0\n");
		await clone.writeProgram("apt-get", '#!/bin/sh\necho "apt-get $*" >>"$FAKE/calls"\n');
		const { code, stderr } = await runTests(clone, "some");
		expect(code).toBe(0);
		expect(stderr).toContain("test: installing the Debian packages some-package\n");
		expect((await clone.calls()).filter((call) => call.startsWith("apt-get"))).toEqual([
			"apt-get -q -o DPkg::Lock::Timeout=300 update",
			"apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends some-package",
		]);
	});
});
