import { describe, expect, it } from "vitest";
import { countCheck, countUnittest, countVitest } from "./counts.ts";

const file = (status: string, ...statuses: string[]) => ({
	name: "a.test.ts",
	status,
	assertionResults: statuses.map((each, index) => ({ fullName: `test ${index}`, status: each })),
});

describe("countVitest", () => {
	it("counts passed, failed and left-out tests with their titles", () => {
		const report = { testResults: [file("failed", "passed", "failed", "skipped", "todo")] };
		expect(countVitest(report, 1)).toEqual({ passed: 1, failed: ["test 1"], skipped: ["test 2", "test 3"] });
	});

	it("counts a file that could not run as one failure", () => {
		expect(countVitest({ testResults: [file("failed")] }, 1).failed).toEqual(["a.test.ts (the file could not run)"]);
	});

	it("counts a run that fails although each test passed", () => {
		const count = countVitest({ testResults: [file("passed", "passed")] }, 1);
		expect(count).toEqual({ passed: 1, failed: ["vitest (ended with 1, see its output above)"], skipped: [] });
	});

	it("counts a run without a report as a failure", () => {
		expect(countVitest(undefined, 1).failed).toHaveLength(1);
	});
});

describe("countUnittest", () => {
	it("counts a run in which everything passed", () => {
		expect(countUnittest("...\nRan 3 tests in 0.1s\n\nOK\n", 0)).toEqual({ passed: 3, failed: [], skipped: [] });
	});

	it("counts failures, errors and skipped tests", () => {
		const output =
			"FAIL: test_a (t.T)\nERROR: test_b (t.T)\nRan 5 tests in 1s\n\nFAILED (failures=1, errors=1, skipped=1)\n";
		const count = countUnittest(output, 1);
		expect(count.passed).toBe(2);
		expect(count.failed).toEqual(["test_a (t.T)", "test_b (t.T)"]);
		expect(count.skipped).toHaveLength(1);
	});

	it("counts a Python that could not start as a failure", () => {
		expect(countUnittest("python3: not found\n", 127)).toEqual({
			passed: 0,
			failed: ["unittest (ended with 127, see its output above)"],
			skipped: [],
		});
	});
});

describe("countCheck", () => {
	it("counts a check as one test", () => {
		expect(countCheck("check:types", 0)).toEqual({ passed: 1, failed: [], skipped: [] });
		expect(countCheck("check:types", 2)).toEqual({ passed: 0, failed: ["check:types"], skipped: [] });
	});
});
