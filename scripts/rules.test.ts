import { createRequire } from "node:module";
import { beforeAll, describe, expect, it } from "vitest";
import { checkImports, specifier, type Violation } from "./testing/import-tree.ts";

// The dependency table of ARCHITECTURE.md, written a second time on purpose: the rules say what is forbidden,
// this table says what is allowed, and every other pair of the tree has to be reported.

const src = "packages/prime-agent/src/";
const contracts = ["features/goal/operations.ts", "features/goal/state.ts"];
const ownContracts = ["features/other/operations.ts", "features/other/state.ts"];
const composition = [
	"features/index.ts",
	"features/views.ts",
	"compose.ts",
	"program.ts",
	"daemon/worker/main.ts",
	"main.ts",
	"sdk/leaf.ts",
];
const folders = ["lib", "platform", "protocol", "session", "kernel", "models", "auth", "settings", "resources"];
folders.push("install", "extensions", "connection", "ui", "modes", "cli");
folders.push("daemon/supervisor", "daemon/worker", "daemon/journal", "daemon/catalog", "daemon/launch");

/** Everything that can be imported: files of the product, packages, libraries. */
const targets = [
	...folders.map((folder) => `${folder}/leaf.ts`),
	"session/ports.ts",
	"session/host.ts",
	...contracts,
	...ownContracts,
	"features/goal/feature.ts",
	"features/goal/tool.ts",
	"features/goal/view.ts",
	"features/goal/supervisor.ts",
	"features/other/tool.ts",
	"features/other/view-dialog.ts",
	...composition,
];
const packages = ["loop", "toolset", "agent", "panes", "testkit"].map((name) => `@prime-agent/${name}`);
const libraries = ["@earendil-works/pi-ai", "@earendil-works/pi-tui"];
const loop = "@prime-agent/loop";
const [piAi = "", piTui = ""] = libraries;
const fetchLibrary = "@whatwg-node/node-fetch";

interface Row {
	rule: string;
	from: string;
	/** May be imported as values. */
	values: string[];
	/** May be imported as types only. */
	types?: string[];
	/** Forbidden, but by another rule than the row's own. */
	elsewhere?: string[];
}

const leaves = (...names: string[]) => names.map((name) => `${name}/leaf.ts`);
const allContracts = [...contracts, ...ownContracts];
const inSession = ["session/leaf.ts", "session/ports.ts", "session/host.ts"];
const portRow = (folder: string): Row => ({
	rule: "ports-know-their-types",
	from: `${folder}/from.ts`,
	values: [...leaves(folder, "lib", "platform", "protocol"), piAi],
	types: ["session/ports.ts"],
});

const rows: Row[] = [
	{ rule: "lib-knows-nothing", from: "lib/from.ts", values: leaves("lib") },
	{ rule: "platform-knows-lib", from: "platform/from.ts", values: leaves("platform", "lib") },
	{
		rule: "protocol-is-data",
		from: "protocol/from.ts",
		values: leaves("protocol", "lib"),
		types: [loop, piAi],
	},
	{
		rule: "session-knows-no-feature",
		from: "session/from.ts",
		values: [...inSession, ...leaves("lib", "protocol"), loop, piAi],
	},
	{
		rule: "contracts-are-pure",
		from: "features/here/operations.ts",
		values: [...leaves("lib", "protocol"), ...allContracts],
	},
	{
		rule: "contracts-are-pure",
		from: "features/here/state.ts",
		values: [...leaves("lib", "protocol"), ...allContracts],
	},
	{
		rule: "feature-uses-the-host",
		from: "features/other/feature.ts",
		values: [
			...inSession,
			...leaves("lib", "protocol"),
			...allContracts,
			"features/other/tool.ts",
			loop,
			"@prime-agent/toolset",
			"@prime-agent/panes",
			piAi,
		],
		elsewhere: ["features/other/view-dialog.ts"],
	},
	{
		rule: "view-draws",
		from: "features/other/view.ts",
		values: [...leaves("lib", "protocol", "ui"), ...allContracts, "features/other/view-dialog.ts", piTui],
		types: leaves("connection"),
	},
	{
		rule: "supervisor-half-stays-small",
		from: "features/other/supervisor.ts",
		values: [...leaves("lib", "platform", "protocol"), ...allContracts],
	},
	...["kernel", "models", "auth", "settings", "resources", "install"].map(portRow),
	{
		rule: "connection-reaches-by-contract",
		from: "connection/from.ts",
		values: [...leaves("connection", "lib", "platform", "protocol"), ...allContracts],
	},
	{
		rule: "supervisor-knows-no-session",
		from: "daemon/supervisor/from.ts",
		values: [
			...leaves("daemon/supervisor", "lib", "platform", "protocol"),
			...allContracts,
			"features/goal/supervisor.ts",
		],
	},
	{
		rule: "worker-runs-a-session",
		from: "daemon/worker/from.ts",
		values: [...leaves("daemon/worker", "daemon/journal", "lib", "platform", "protocol"), ...inSession],
		elsewhere: ["daemon/worker/main.ts"],
	},
	...["daemon/journal", "daemon/catalog", "daemon/launch"].map((folder) => ({
		rule: "daemon-parts-stand-alone",
		from: `${folder}/from.ts`,
		values: leaves(folder, "lib", "platform", "protocol"),
	})),
	{
		rule: "modes-use-the-connection",
		from: "modes/from.ts",
		values: [...leaves("modes", "lib", "protocol", "connection", "ui"), ...allContracts, "features/views.ts", piTui],
	},
	{ rule: "ui-only-draws", from: "ui/from.ts", values: [...leaves("ui", "lib", "protocol"), piTui] },
	{
		rule: "extensions-use-the-host",
		from: "extensions/from.ts",
		values: [...leaves("extensions", "lib", "platform", "protocol", "settings", "resources"), loop, piAi],
		types: ["session/host.ts", piTui],
	},
	{
		rule: "cli-starts-modes",
		from: "cli/from.ts",
		values: leaves(
			"cli",
			"lib",
			"platform",
			"protocol",
			"settings",
			"resources",
			"install",
			"connection",
			"modes",
			"daemon/launch",
		),
	},
];

/** Rows of whole packages, with the packages and libraries that each may import. */
const packageRows: Row[] = [
	{ rule: "loop-uses-only-pi-ai", from: "loop", values: [piAi] },
	{ rule: "toolset-uses-loop", from: "toolset", values: [loop] },
	{ rule: "agent-uses-loop-and-toolset", from: "agent", values: [loop, "@prime-agent/toolset"] },
	{ rule: "panes-stands-alone", from: "panes", values: [] },
	{
		rule: "testkit-takes-types",
		from: "testkit",
		values: libraries,
		types: packages.filter((name) => !name.endsWith("testkit")),
	},
];

/** Violations that no row of the table covers: the rule, the importing file, what it imports, how. */
const plants: { rule: string; from: string; to: string; as?: "type" | "call" }[] = [
	{ rule: "no-cycles", from: `${src}lib/first.ts`, to: `${src}lib/second.ts`, as: "type" },
	{ rule: "imports-resolve", from: `${src}lib/lost.ts`, to: "@prime-agent/loop/src/turn.ts" },
	{ rule: "no-deep-imports", from: `${src}session/deep.ts`, to: "packages/loop/src/turn.ts" },
	{ rule: "no-deep-imports", from: `${src}session/deep.test.ts`, to: "packages/testkit/src/model.ts", as: "type" },
	{ rule: "no-deep-imports-from-outside", from: "e2e/deep.test.ts", to: `${src}session/leaf.ts` },
	{ rule: "nobody-ships-tests", from: `${src}session/ships.ts`, to: "@prime-agent/testkit", as: "type" },
	{ rule: "nobody-ships-tests", from: `${src}session/ships.ts`, to: `${src}session/testing/harness.ts` },
	{ rule: "nobody-ships-tests", from: "packages/agent/src/ships.ts", to: "packages/agent/src/some.test.ts" },
	{ rule: "product-uses-its-packages", from: `${src}main.ts`, to: "@prime-agent/agent" },
	{ rule: "session-half-is-listed", from: `${src}compose.ts`, to: `${src}features/goal/feature.ts` },
	{ rule: "session-half-is-listed", from: `${src}features/goal/helper.ts`, to: `${src}features/goal/feature.ts` },
	{ rule: "view-is-listed", from: `${src}features/goal/helper.ts`, to: `${src}features/goal/view.ts` },
	{ rule: "supervisor-half-is-called", from: `${src}compose.ts`, to: `${src}features/goal/supervisor.ts` },
	{ rule: "nobody-imports-the-composition", from: `${src}modes/starts.ts`, to: `${src}compose.ts` },
	{ rule: "only-modes-import-the-views", from: `${src}ui/draws.ts`, to: `${src}features/views.ts` },
	{ rule: "processes-have-homes", from: `${src}session/call.ts`, to: "node:net", as: "call" },
	{ rule: "loop-uses-only-pi-ai", from: "packages/loop/src/schema.ts", to: "zod" },
	{ rule: "only-the-transport-fetches", from: "packages/loop/src/stream/guard.ts", to: fetchLibrary },
];

/** Imports that look forbidden and are not. */
const legal: { from: string; to: string; as?: "type" }[] = [
	{ from: `${src}lib/second.ts`, to: "node:path" },
	{ from: `${src}session/kept.test.ts`, to: "@prime-agent/testkit" },
	{ from: `${src}session/kept.test.ts`, to: `${src}compose.ts` },
	{ from: `${src}session/kept.test.ts`, to: `${src}session/testing/harness.ts` },
	{ from: `${src}session/kept.test.ts`, to: "node:child_process" },
	{ from: `${src}index.ts`, to: `${src}sdk/leaf.ts` },
	{ from: `${src}features/index.ts`, to: `${src}features/goal/feature.ts` },
	{ from: `${src}features/views.ts`, to: `${src}features/goal/view.ts` },
	{ from: `${src}sdk/leaf.ts`, to: `${src}session/leaf.ts` },
	{ from: "e2e/kept.test.ts", to: "@prime-agent/testkit" },
	{ from: "packages/testkit/src/kept.test.ts", to: "@prime-agent/loop" },
	{ from: "packages/loop/src/stream/transport.ts", to: fetchLibrary },
];

const processHomes = ["platform", "kernel", "daemon/supervisor", "daemon/journal", "install"].map((name) => src + name);
processHomes.push("packages/panes/src/tmux", "packages/panes/src/dispatch", "packages/panes/src/drive");
processHomes.push("packages/toolset/src/environment", "packages/testkit/src/servers");
const fileHomes = ["resources", "settings", "auth", "session/storage", "cli"].map((name) => src + name);
fileHomes.push("packages/panes/src/cli", "packages/panes/src/clis", "packages/panes/src/hooks", "packages/agent/src");
fileHomes.push("packages/toolset/src/tools", "packages/toolset/src/project-docs");
const homeless = ["lib", "protocol", "session", "features/goal", "models", "extensions", "connection", "modes", "ui"];
homeless.push("sdk");
const homelessFolders = [...homeless.map((name) => src + name), "packages/loop/src", "packages/panes/src/screen"];
homelessFolders.push("packages/toolset/src/profiles");

const isProduct = (target: string) => targets.includes(target);
const resolved = (target: string) => (isProduct(target) ? src + target : target);
const typesFile = (path: string) => path.replace(/\.ts$/, "-types.ts");

function addImport(files: Map<string, string>, from: string, to: string, as: "value" | "type" | "call" = "value") {
	const name = JSON.stringify(specifier(from, to));
	const line = {
		value: `import ${name};`,
		type: `import type {} from ${name};`,
		call: `process.getBuiltinModule(${name});`,
	}[as];
	files.set(from, `${files.get(from) ?? ""}${line}\n`);
}

function buildTree(): Map<string, string> {
	const files = new Map(targets.map((target) => [src + target, ""]));
	for (const leaf of [`${src}session/testing/harness.ts`, "packages/agent/src/some.test.ts"]) files.set(leaf, "");
	for (const leaf of ["packages/loop/src/turn.ts", "packages/testkit/src/model.ts"]) files.set(leaf, "");
	for (const row of rows) {
		for (const target of [...targets, ...packages, ...libraries]) {
			const from = src + row.from;
			if (from === src + target) continue;
			addImport(files, from, resolved(target));
			if (!isHalf(row.from)) addImport(files, typesFile(from), resolved(target), "type");
		}
	}
	for (const row of packageRows) {
		for (const target of [...packages, ...libraries]) {
			if (target === `@prime-agent/${row.from}`) continue;
			addImport(files, `packages/${row.from}/src/from.ts`, target);
			addImport(files, `packages/${row.from}/src/from-types.ts`, target, "type");
		}
	}
	for (const { from, to, as } of [...plants, ...legal]) addImport(files, from, to, as);
	addImport(files, `${src}lib/second.ts`, `${src}lib/first.ts`, "type");
	for (const folder of [...processHomes, ...fileHomes, ...homelessFolders]) {
		for (const builtin of ["node:child_process", "node:net", "node:fs", "node:fs/promises"]) {
			addImport(files, `${folder}/builtin.ts`, builtin);
		}
	}
	return files;
}

/** Files whose name makes the rule, so that a second file for the type imports would fall under another rule. */
function isHalf(from: string): boolean {
	return /\/(operations|state|feature|supervisor)\.ts$/.test(from);
}

/** How a target reads in the report. */
function reported(target: string): string {
	if (isProduct(target)) return src + target;
	if (packages.includes(target)) return `packages/${target.slice("@prime-agent/".length)}/src/index.ts`;
	if ([...libraries, "zod", fetchLibrary].includes(target)) return `node_modules/${target}/index.js`;
	return target.replace(/^node:/, "");
}

let violations: Violation[] = [];
const reportedFrom = (from: string) =>
	[...new Set(violations.filter((found) => found.from === from).map((found) => found.to))].sort();
const expectedFrom = (candidates: string[], allowed: string[]) =>
	candidates
		.filter((target) => !allowed.includes(target))
		.map(reported)
		.sort();

beforeAll(async () => {
	violations = await checkImports(buildTree());
});

describe("the dependency rules", () => {
	it.each(rows)("let $from import what the table allows and report everything else as $rule", (row) => {
		const candidates = [...targets, ...packages, ...libraries].filter((target) => target !== row.from);
		const forbidden = expectedFrom(candidates, [...row.values, ...(row.types ?? [])]);
		expect(reportedFrom(src + row.from)).toEqual(expectedFrom(candidates, row.values));
		const named = violations.filter((found) => found.from === src + row.from && found.rule === row.rule);
		const ownDuty = expectedFrom(candidates, [...row.values, ...(row.types ?? []), ...(row.elsewhere ?? [])]);
		expect(named.map((found) => found.to).sort()).toEqual(ownDuty);
		if (isHalf(row.from)) return;
		expect(reportedFrom(typesFile(src + row.from))).toEqual(forbidden);
	});

	it.each(packageRows)("let the package $from import what the table allows and report the rest as $rule", (row) => {
		const candidates = [...packages, ...libraries].filter((target) => target !== `@prime-agent/${row.from}`);
		expect(reportedFrom(`packages/${row.from}/src/from.ts`)).toEqual(expectedFrom(candidates, row.values));
		const typed = expectedFrom(candidates, [...row.values, ...(row.types ?? [])]);
		expect(reportedFrom(`packages/${row.from}/src/from-types.ts`)).toEqual(typed);
	});

	it.each(plants)("report $rule when $from imports $to", ({ rule, from, to }) => {
		const found = violations.filter((violation) => violation.rule === rule && violation.from === from);
		expect(found.map((violation) => violation.to)).toContain(reported(to));
	});

	it.each(legal)("let $from import $to", ({ from, to }) => {
		expect(violations.filter((found) => found.from === from && found.to === reported(to))).toEqual([]);
	});

	it.each(processHomes)("let %s use processes, sockets and files", (folder) => {
		expect(reportedFrom(`${folder}/builtin.ts`)).toEqual([]);
	});

	it.each(fileHomes)("let %s use files and report its processes and sockets", (folder) => {
		expect(reportedFrom(`${folder}/builtin.ts`)).toEqual(["child_process", "net"]);
	});

	it.each(homelessFolders)("report processes, sockets and files in %s", (folder) => {
		expect(reportedFrom(`${folder}/builtin.ts`)).toEqual(["child_process", "fs", "fs/promises", "net"]);
	});

	it("have a planted violation each", () => {
		const config = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as { forbidden: { name: string }[] };
		const names = config.forbidden.map((rule) => rule.name).sort();
		expect([...new Set(violations.map((found) => found.rule))].sort()).toEqual(names);
	});
});
