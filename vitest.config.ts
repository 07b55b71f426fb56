import { defineConfig } from "vitest/config";

/** One suite for the whole workspace. A hang guard of 60 s is no time limit: no test may depend on speed. */
export default defineConfig({
	test: {
		include: ["packages/*/src/**/*.test.ts", "e2e/**/*.test.ts", "bench/**/*.test.ts", "scripts/**/*.test.ts"],
		globalSetup: "scripts/testing/guard.ts",
		testTimeout: 60_000,
		hookTimeout: 60_000,
		pool: "forks",
		maxWorkers: 2,
	},
});
