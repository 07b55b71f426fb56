import { existsSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { runProcess } from "../process/run.ts";
import { tempHome } from "./temp.ts";

it("gives a private folder that is HOME and is gone after use", async () => {
	let path: string;
	{
		await using home = await tempHome();
		path = home.path;
		expect(statSync(path).mode & 0o777).toBe(0o700);
		const { stdout } = await runProcess("/bin/sh", ["-c", "cd && pwd"], { env: home.env });
		expect(stdout.trim()).toBe(path);
	}
	expect(existsSync(path)).toBe(false);
});

it("hands no key of a provider to programs and keeps their folders inside the home", async () => {
	process.env.OPENAI_API_KEY = "secret";
	try {
		await using home = await tempHome();
		expect(Object.keys(home.env).filter((name) => /KEY|TOKEN|SECRET/.test(name))).toEqual([]);
		for (const [name, value] of Object.entries(home.env)) {
			if (/^(XDG_|HOME|PRIME_AGENT_CODING)/.test(name)) expect(value.startsWith(home.path)).toBe(true);
		}
	} finally {
		delete process.env.OPENAI_API_KEY;
	}
});
