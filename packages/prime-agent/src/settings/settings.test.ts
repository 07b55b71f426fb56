import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { readSettings } from "./settings.ts";

async function setUp(user?: object | string, project?: object | string) {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const agent = join(home.path, "agent");
	const cwd = join(home.path, "project");
	const projectFolder = join(cwd, ".prime", "agent");
	await mkdir(agent);
	await mkdir(projectFolder, { recursive: true });
	const write = (folder: string, value: object | string | undefined) =>
		value === undefined
			? undefined
			: writeFile(join(folder, "settings.json"), typeof value === "string" ? value : JSON.stringify(value));
	await write(agent, user);
	await write(projectFolder, project);
	const read = () => readSettings(agent, cwd, { HOME: home.path });
	return { agent, projectFolder, home: home.path, read };
}

it("reads nothing where there are no files", async () => {
	const { read } = await setUp();
	expect(read()).toEqual({ settings: { kernel: {} }, warnings: [] });
});

it("lets the project's settings win over the user's, field by field", async () => {
	const { read } = await setUp(
		{ defaultProvider: "a", defaultModel: "m", kernel: { backend: "builtin", cellTimeoutMs: 5 } },
		{ defaultModel: "n", kernel: { backend: "auto" }, defaultThinkingLevel: "max" },
	);
	expect(read().settings).toEqual({
		defaultProvider: "a",
		defaultModel: "n",
		defaultThinkingLevel: "max",
		kernel: { backend: "auto", cellTimeoutMs: 5 },
	});
});

it("takes what runs code or shows secrets from the user's settings only", async () => {
	const code = { kernel: { python: "/opt/python", env: { pass: ["A_TOKEN"] } } };
	const own = await setUp(code);
	expect(own.read().settings.kernel).toEqual({ python: "/opt/python", envPass: ["A_TOKEN"] });
	const foreign = await setUp(undefined, code);
	const path = join(foreign.projectFolder, "settings.json");
	expect(foreign.read()).toEqual({
		settings: { kernel: {} },
		warnings: [
			`${path}: "kernel.python" is not used: only the user's own settings may say it.`,
			`${path}: "kernel.env.pass" is not used: only the user's own settings may say it.`,
		],
	});
});

it("reports a broken file, keeps it, and goes on with the other", async () => {
	const { read, agent } = await setUp("{ not json", { defaultModel: "n" });
	const path = join(agent, "settings.json");
	expect(read()).toEqual({
		settings: { defaultModel: "n", kernel: {} },
		warnings: [`${path} is not used: it is not valid JSON. The file is kept as it is.`],
	});
	expect(await readFile(path, "utf8")).toBe("{ not json");
});

it("leaves out single wrong values and says what they must be", async () => {
	const { read } = await setUp({ defaultThinkingLevel: "huge", defaultModel: 5, kernel: { cellTimeoutMs: 0 } });
	const { settings, warnings } = read();
	expect(settings).toEqual({ kernel: {} });
	expect(warnings).toEqual([
		expect.stringContaining('"defaultModel" is not used: it must be a text.'),
		expect.stringContaining(
			'"defaultThinkingLevel" is not used: it must be one of off, minimal, low, medium, high, xhigh, max.',
		),
		expect.stringContaining('"kernel.cellTimeoutMs" is not used: it must be a number above 0.'),
	]);
});

it("reads paths from the folder of the file that has them, and ~ as the home folder", async () => {
	const relative = await setUp(undefined, { sessionDir: "saved" });
	expect(relative.read().settings.sessionDir).toBe(join(relative.projectFolder, "saved"));
	const home = await setUp({ sessionDir: "~/saved" });
	expect(home.read().settings.sessionDir).toBe(join(home.home, "saved"));
});
