import { expect, it } from "vitest";
import { resolveConfigValue } from "./config-value.ts";

const env = { PATH: process.env.PATH, MY_KEY: "from the environment", EMPTY: "" };

it("takes the value of the variable that the text names", async () => {
	expect(await resolveConfigValue("MY_KEY", env)).toBe("from the environment");
});

it("takes the text itself when no variable has that name or it is empty", async () => {
	expect(await resolveConfigValue("sk-literal", env)).toBe("sk-literal");
	expect(await resolveConfigValue("EMPTY", env)).toBe("EMPTY");
});

it("takes what a command prints, without the last newline", async () => {
	expect(await resolveConfigValue("!printf 'a b\\n'", env)).toBe("a b");
});

it("gives the command the environment", async () => {
	expect(await resolveConfigValue('!printf %s "$MY_KEY"', env)).toBe("from the environment");
});

it("tells the exit code of a failed command and nothing of what it printed", async () => {
	const failure = resolveConfigValue("!printf secret; printf secret >&2; exit 3", env);
	await expect(failure).rejects.toThrow(/^The command "printf" failed with exit code 3\.$/);
});

it("refuses a command that prints nothing", async () => {
	await expect(resolveConfigValue("!true", env)).rejects.toThrow('The command "true" printed no value.');
});

it("ends a command that takes too long", async () => {
	await expect(resolveConfigValue("!sleep 60", env, undefined, 50)).rejects.toThrow("did not end within 0.05 s");
});

it("ends a command when it is aborted", async () => {
	const controller = new AbortController();
	const value = resolveConfigValue("!sleep 60", env, controller.signal);
	controller.abort();
	await expect(value).rejects.toThrow("could not be run");
});
