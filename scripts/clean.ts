import { glob, rm } from "node:fs/promises";
import { join, resolve } from "node:path";

// Removes what builds, tests and set-up leave in the clone, except the dependencies.

const root = resolve(import.meta.dirname, "..");
const made = ["packages/*/dist", ".cache", "coverage", "prime-agent-runtime/**/__pycache__"];

for await (const path of glob(made, { cwd: root })) {
	await rm(join(root, path), { recursive: true, force: true });
	console.log(`removed ${path}`);
}
