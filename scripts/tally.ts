import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Count, countCheck, countUnittest, countVitest, type VitestReport } from "./counts.ts";

// node scripts/tally.ts <folder>: sums the results that test.sh left in the folder, prints what failed and what was
// left out, and closes with one line `N passed, N failed[, N skipped]`.

const folder = process.argv[2] ?? ".";
const read = (name: string) => readFileSync(join(folder, name), "utf8");

const counts = readdirSync(folder)
	.filter((name) => name.endsWith(".code"))
	.map((name) => countResult(name.replace(/\.code$/, ""), Number(read(name))));
const sum = (pick: (count: Count) => number) => counts.reduce((total, count) => total + pick(count), 0);
const passed = sum((count) => count.passed);
const failed = sum((count) => count.failed.length);
const skipped = sum((count) => count.skipped.length);

for (const title of counts.flatMap((count) => count.skipped)) console.log(`left out: ${title}`);
for (const title of counts.flatMap((count) => count.failed)) console.log(`failed: ${title}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function countResult(name: string, code: number): Count {
	if (name === "vitest") return countVitest(readReport(), code);
	if (name === "unittest") return countUnittest(read("unittest.txt"), code);
	return countCheck(name, code);
}

/** Nothing when vitest ended before it could write its report. */
function readReport(): VitestReport | undefined {
	const file = readdirSync(folder).find((name) => name === "vitest.json");
	return file ? (JSON.parse(read(file)) as VitestReport) : undefined;
}
