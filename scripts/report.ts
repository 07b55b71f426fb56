import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { countTogether } from "./history.ts";

// Prints where the code concentrates: long files, files that change together, import cycles.
// Fails on a file over 500 lines and on a cycle.

const root = resolve(import.meta.dirname, "..");
const longest = 500;
const isCode = (path: string) => /\.(ts|cjs|py|sh)$/.test(path) && !/(^|\/)(fixtures|generated)\//.test(path);

const tracked = git("ls-files", "--cached", "--others", "--exclude-standard").filter(isCode);
const sizes = tracked.flatMap((path) => countLines(path));
const total = sizes.reduce((sum, file) => sum + file.lines, 0);
const long = sizes.filter((file) => file.lines > longest);
const share = (100 * long.reduce((sum, file) => sum + file.lines, 0)) / Math.max(1, total);

console.log(`${sizes.length} files, ${total} lines, ${share.toFixed(1)} % of them in files over ${longest} lines`);
for (const file of long) console.log(`  ${file.lines}  ${file.path}`);

console.log("most changed together (commits, the file, its most frequent companion):");
const commits = git("log", "--no-merges", "--name-only", "--format=%x00").join("\n").split("\0");
for (const { path, count, partner } of countTogether(
	commits.map((commit) => commit.split("\n").filter(isCode)),
	10,
)) {
	console.log(`  ${count}  ${path}  ${partner ? `${partner.count} with ${partner.path}` : "alone"}`);
}

const cycles = findCycles();
console.log(`${cycles.length} import cycles`);
for (const cycle of cycles) console.log(`  ${cycle}`);

if (long.length > 0 || cycles.length > 0) process.exitCode = 1;

function git(...args: string[]): string[] {
	return execFileSync("git", ["-C", root, ...args], { encoding: "utf8", maxBuffer: 1 << 28 }).split("\n");
}

/** Nothing for a file that is listed but gone from the folder. */
function countLines(path: string): { path: string; lines: number }[] {
	try {
		return [{ path, lines: readFileSync(join(root, path), "utf8").split("\n").length - 1 }];
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
		throw error;
	}
}

function findCycles(): string[] {
	const program = join(root, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
	const args = [program, "packages", "--config", ".dependency-cruiser.cjs", "--output-type", "json"];
	const run = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
	if (run.stdout === "") throw new Error(`dependency-cruiser failed: ${run.stderr}`);
	const { summary } = JSON.parse(run.stdout) as { summary: { violations: Violation[] } };
	return summary.violations
		.filter((found) => found.rule.name === "no-cycles")
		.map((found) => [found.from, ...(found.cycle ?? []).map((step) => step.name)].join(" → "));
}

interface Violation {
	rule: { name: string };
	from: string;
	cycle?: { name: string }[];
}
