/** What one runner did: how many passed, and the titles of what failed and what was left out. */
export interface Count {
	passed: number;
	failed: string[];
	skipped: string[];
}

/** The part of vitest's JSON report that is counted. */
export interface VitestReport {
	testResults: {
		name: string;
		status: string;
		assertionResults: { fullName: string; status: string }[];
	}[];
}

/** Counts a check, which is one test: it passed when its exit code is 0. */
export function countCheck(name: string, code: number): Count {
	return code === 0 ? { passed: 1, failed: [], skipped: [] } : { passed: 0, failed: [name], skipped: [] };
}

/** Counts vitest's report; a file that could not run, and a run that failed around its tests, count as failures. */
export function countVitest(report: VitestReport | undefined, code: number): Count {
	const count: Count = { passed: 0, failed: [], skipped: [] };
	for (const file of report?.testResults ?? []) {
		for (const test of file.assertionResults) {
			if (test.status === "passed") count.passed += 1;
			else if (test.status === "failed") count.failed.push(test.fullName);
			else count.skipped.push(test.fullName);
		}
		const failedInside = file.assertionResults.some((test) => test.status === "failed");
		if (file.status === "failed" && !failedInside) count.failed.push(`${file.name} (the file could not run)`);
	}
	if (code !== 0 && count.failed.length === 0) count.failed.push(`vitest (ended with ${code}, see its output above)`);
	return count;
}

/** Counts the closing lines of Python's unittest. */
export function countUnittest(output: string, code: number): Count {
	const ran = Number(/^Ran (\d+) tests?/m.exec(output)?.[1] ?? 0);
	const closing = /^(?:OK|FAILED)(?: \((.*)\))?$/m.exec(output)?.[1] ?? "";
	const number = (key: string) => Number(new RegExp(`(?:^|, )${key}=(\\d+)`).exec(closing)?.[1] ?? 0);
	const failed = [...output.matchAll(/^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$/gm)].map((match) => match[1] ?? "");
	const missing = number("failures") + number("errors") + number("unexpected successes") - failed.length;
	for (let index = 0; index < missing; index += 1) failed.push("unittest (see its output above)");
	if (code !== 0 && failed.length === 0) failed.push(`unittest (ended with ${code}, see its output above)`);
	const skipped = Array.from({ length: number("skipped") }, () => "a Python test (see the output of unittest)");
	return { passed: Math.max(0, ran - failed.length - skipped.length), failed, skipped };
}
