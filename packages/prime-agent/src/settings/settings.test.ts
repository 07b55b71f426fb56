import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { readSettings, type Settings } from "./settings.ts";

/** The typed settings that are set. */
function typed({ get: _get, kernel, ...settings }: Settings): object {
	const isSet = ([, value]: [string, unknown]) => value !== undefined;
	const set = (values: object) => Object.fromEntries(Object.entries(values).filter(isSet));
	return { ...set(settings), kernel: set(kernel) };
}

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
	const readTyped = () => {
		const { settings, warnings } = read();
		return { settings: typed(settings), warnings };
	};
	return { agent, projectFolder, home: home.path, read: readTyped, readAll: read };
}

it("reads nothing where there are no files", async () => {
	const { read } = await setUp();
	expect(read()).toEqual({ settings: { kernel: {} }, warnings: [] });
});

it("takes bounds of snapshots one by one, and leaves out those that are out of range with the range", async () => {
	const { read, agent } = await setUp({
		kernel: { snapshot: { variableMb: 1.5, totalMb: 0, variables: 5, timeoutMs: 600_001, variableTimeoutMs: "2000" } },
	});
	const path = join(agent, "settings.json");
	expect(read()).toEqual({
		settings: { kernel: { snapshot: { variableMb: 1.5, variables: 5 } } },
		warnings: [
			`${path}: "kernel.snapshot.totalMb" is not used: it must be a number from 0.1 to 16384.`,
			`${path}: "kernel.snapshot.timeoutMs" is not used: it must be a number from 100 to 600000.`,
			`${path}: "kernel.snapshot.variableTimeoutMs" is not used: it must be a number from 10 to 600000.`,
		],
	});
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
	expect(own.read().settings).toEqual({ kernel: { python: "/opt/python", envPass: ["A_TOKEN"] } });
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

it("reports a broken file, keeps it, and goes on with the other (S17)", async () => {
	const { read, agent } = await setUp("{ not json", { defaultModel: "n" });
	const path = join(agent, "settings.json");
	expect(read()).toEqual({
		settings: { defaultModel: "n", kernel: {} },
		warnings: [`${path} is not used: it is not valid JSON (line 1, column 3). The file is kept as it is.`],
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
	expect(relative.readAll().settings.sessionDir).toBe(join(relative.projectFolder, "saved"));
	const home = await setUp({ sessionDir: "~/saved" });
	expect(home.readAll().settings.sessionDir).toBe(join(home.home, "saved"));
});

it("hands out any setting by its path, merged field by field", async () => {
	const { readAll } = await setUp(
		{ retry: { maxRetries: 5, provider: { timeoutMs: 1 } }, enabledModels: ["a", "b"], rlmMaxDepth: 2 },
		{
			retry: { provider: { maxRetryDelayMs: 3 } },
			enabledModels: ["c"],
			rlmMaxDepth: 9,
			mcpServers: { a: { command: "x" } },
		},
	);
	const { settings, warnings } = readAll();
	expect(settings.get("retry")).toEqual({ maxRetries: 5, provider: { timeoutMs: 1, maxRetryDelayMs: 3 } });
	expect(settings.get("retry.provider.maxRetryDelayMs")).toBe(3);
	expect(settings.get("enabledModels")).toEqual(["c"]);
	expect(settings.get("rlmMaxDepth")).toBe(2);
	for (const path of ["mcpServers", "retry.none.at.all", "retry.maxRetries.x", "constructor", "__proto__.x"]) {
		expect(settings.get(path), path).toBeUndefined();
	}
	expect(warnings).toHaveLength(2);
});

it("understands older names, and checks the settings of features before they see them", async () => {
	const { readAll } = await setUp({
		retry: { maxDelayMs: 9, enabled: "yes", maxRetries: -1 },
		compaction: { overflowPatterns: ["too big"], keepRecentTokens: 5 },
	});
	const { settings, warnings } = readAll();
	expect(settings.get("retry")).toEqual({ provider: { maxRetryDelayMs: 9 } });
	expect(settings.get("compaction")).toEqual({ overflowPatterns: ["too big"], keepRecentTokens: 5 });
	expect(warnings).toEqual([
		expect.stringContaining('"retry.enabled" is not used: it must be true or false.'),
		expect.stringContaining('"retry.maxRetries" is not used: it must be a number, 0 or more.'),
	]);
});

it.each([
	["retry", "provider.timeoutMs", { provider: { timeoutMs: "60000" } }, "it must be a number, 0 or more"],
	["compaction", "agentCallable", { agentCallable: "false" }, "it must be true or false"],
])("does not let a wrong %s.%s pass for unset without a word", async (group, path, values, fault) => {
	const { settings, warnings } = (await setUp({ [group]: values })).readAll();
	expect(settings.get(`${group}.${path}`)).toBeUndefined();
	expect(warnings).toEqual([expect.stringContaining(`"${group}.${path}" is not used: ${fault}.`)]);
});

it.each([
	[{ retyr: {} }, '"retyr" is not known. Did you mean "retry"?'],
	[{ defaultmodel: "m" }, '"defaultmodel" is not known. Did you mean "defaultModel"?'],
	[{ retry: { maxRetires: 1 } }, '"retry.maxRetires" is not known. Did you mean "maxRetries"?'],
	[{ cellTimeoutMs: 5 }, '"cellTimeoutMs" is not known. Did you mean "kernel.cellTimeoutMs"?'],
	[{ somethingElseEntirely: 5 }, '"somethingElseEntirely" is not known.'],
	[{ retry: 5 }, '"retry" is not used: it must be an object with enabled, maxRetries, '],
	[{ compaction: null }, '"compaction" is not used: it must be an object with enabled, '],
])("says of %j what is wrong with it", async (values, fault) => {
	const { agent, readAll } = await setUp(values);
	const { warnings } = readAll();
	expect(warnings).toEqual([expect.stringContaining(`${join(agent, "settings.json")}: ${fault}`)]);
});

it("does not let a wrong group of the project hide the user's", async () => {
	const { readAll } = await setUp({ retry: { maxRetries: 7 } }, { retry: false });
	expect(readAll().settings.get("retry.maxRetries")).toBe(7);
});

it("says nothing about notes and about settings of parts that come later", async () => {
	const { readAll } = await setUp({ $schema: "x", _note: "y", theme: "dark", mcpServers: { any: { command: "x" } } });
	expect(readAll().warnings).toEqual([]);
});

it("lets the newer name win over an older one", async () => {
	const { readAll } = await setUp({ retry: { maxDelayMs: 9, provider: { maxRetryDelayMs: 0 } } });
	expect(readAll().settings.get("retry")).toEqual({ provider: { maxRetryDelayMs: 0 } });
});

it("takes no prototype from a file", async () => {
	const { readAll } = await setUp(
		'{"__proto__": {"polluted": true}, "a": 1}',
		'{"a": {"__proto__": {"polluted": true}}}',
	);
	readAll();
	expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it("tells unknown names quoted on one line, cut, and only some of very many", async () => {
	const names = [`a\n\u001b]0;x`, "k".repeat(5000), ...Array.from({ length: 40 }, (_, index) => `zz${index}`)];
	const { warnings } = (await setUp({}, Object.fromEntries(names.map((name) => [name, 1])))).readAll();
	expect(warnings).toHaveLength(21);
	expect(warnings[0]).toContain(String.raw`"a\n\u001b]0;x" is not known.`);
	expect(warnings.filter((text) => text.includes("\n") || text.length > 500)).toEqual([]);
	expect(warnings.at(-1)).toContain("22 more names are not known.");
});
