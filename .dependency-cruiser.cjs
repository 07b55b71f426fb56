// The dependency rules of ARCHITECTURE.md. Each has its planted violation in scripts/rules.test.ts.

const src = "^packages/prime-agent/src/";
const ours = "^packages/";
const piAi = "^node_modules/@earendil-works/pi-ai/";
const fetchLibrary = "^node_modules/@whatwg-node/node-fetch/";
const transport = "^packages/loop/src/stream/transport\\.ts$";
const piTui = "^node_modules/@earendil-works/pi-tui/";
const contracts = `${src}features/[^/]+/(operations|state)\\.ts$`;
const views = `${src}features/[^/]+/view[^/]*\\.ts$`;
const supervisorHalves = `${src}features/[^/]+/supervisor[^/]*\\.ts$`;
// Files directly in src put the parts together; so do these.
const composition = `${src}([^/]+\\.ts$|features/(index|views)\\.ts$|daemon/worker/main\\.ts$|sdk/)`;
const tests = "(\\.test\\.ts$|/testing/)";

/** A path pattern of folders directly in packages/prime-agent/src. */
const inSrc = (...folders) => `${src}(${folders.join("|")})/`;

/** A path pattern of whole packages. */
const inPackages = (...names) => `^packages/(${names.join("|")})/`;

/** Everything of ours, and the two libraries that the table rations, except what is listed. */
const mayImport = (name, from, allowed, except = []) => ({
	name,
	severity: "error",
	from: { path: from, pathNot: [tests, composition, ...except] },
	to: { path: [ours, piAi, piTui], pathNot: allowed },
});

/** What the row above allows, but as types. */
const onlyTypes = (name, from, to, except = []) => ({
	name,
	severity: "error",
	from: { path: from, pathNot: [tests, composition, ...except] },
	to: { path: to, dependencyTypesNot: ["type-only", "type-import"] },
});

const layers = [
	mayImport("lib-knows-nothing", inSrc("lib"), [inSrc("lib")]),
	mayImport("platform-knows-lib", inSrc("platform"), [inSrc("platform", "lib")]),
	mayImport("protocol-is-data", inSrc("protocol"), [inSrc("protocol", "lib"), inPackages("loop"), piAi]),
	onlyTypes("protocol-takes-types", inSrc("protocol"), [inPackages("loop"), piAi]),
	mayImport("session-knows-no-feature", inSrc("session"), [
		inSrc("session", "lib", "protocol"),
		inPackages("loop"),
		piAi,
	]),
	mayImport("ports-know-their-types", inSrc("(kernel|models|auth|settings|resources|install)"), [
		`${src}$1/`,
		inSrc("lib", "platform", "protocol"),
		`${src}session/ports\\.ts$`,
		piAi,
	]),
	onlyTypes(
		"ports-take-types",
		inSrc("kernel", "models", "auth", "settings", "resources", "install"),
		`${src}session/ports\\.ts$`,
	),
	mayImport("connection-reaches-by-contract", inSrc("connection"), [
		inSrc("connection", "lib", "platform", "protocol"),
		contracts,
	]),
	mayImport("modes-use-the-connection", inSrc("modes"), [
		inSrc("modes", "lib", "protocol", "connection", "ui"),
		`${src}features/views\\.ts$`,
		contracts,
		piTui,
	]),
	mayImport("ui-only-draws", inSrc("ui"), [inSrc("ui", "lib", "protocol"), piTui]),
	mayImport("extensions-use-the-host", inSrc("extensions"), [
		inSrc("extensions", "lib", "platform", "protocol", "settings", "resources"),
		`${src}session/host\\.ts$`,
		inPackages("loop"),
		piAi,
		piTui,
	]),
	onlyTypes("extensions-take-types", inSrc("extensions"), [`${src}session/host\\.ts$`, piTui]),
	mayImport("cli-starts-modes", inSrc("cli"), [
		inSrc("cli", "lib", "platform", "protocol", "settings", "resources", "install", "connection", "modes"),
		`${src}daemon/launch[./]`,
	]),
];

const features = [
	mayImport("contracts-are-pure", contracts, [inSrc("lib", "protocol"), contracts]),
	mayImport(
		"feature-uses-the-host",
		`${src}features/([^/]+)/`,
		[
			`${src}features/$1/`,
			inSrc("lib", "protocol", "session"),
			contracts,
			inPackages("loop", "toolset", "panes"),
			piAi,
		],
		[contracts, views, supervisorHalves],
	),
	mayImport("view-draws", `${src}features/([^/]+)/view[^/]*\\.ts$`, [
		`${src}features/$1/view[^/]*\\.ts$`,
		inSrc("lib", "protocol", "ui", "connection"),
		contracts,
		piTui,
	]),
	onlyTypes("view-takes-connection-types", views, inSrc("connection")),
	mayImport("supervisor-half-stays-small", supervisorHalves, [inSrc("lib", "platform", "protocol"), contracts]),
	{
		name: "session-half-is-listed",
		severity: "error",
		from: { pathNot: [tests, `${src}features/index\\.ts$`] },
		to: { path: `${src}features/[^/]+/feature\\.ts$` },
	},
	{
		name: "view-is-listed",
		severity: "error",
		from: { pathNot: [tests, `${src}features/views\\.ts$`, views] },
		to: { path: views },
	},
	{
		name: "supervisor-half-is-called",
		severity: "error",
		from: { pathNot: [tests, inSrc("daemon/supervisor"), supervisorHalves] },
		to: { path: supervisorHalves },
	},
];

const daemon = [
	mayImport("supervisor-knows-no-session", inSrc("daemon/supervisor"), [
		inSrc("daemon/supervisor", "lib", "platform", "protocol"),
		contracts,
		supervisorHalves,
	]),
	mayImport("worker-runs-a-session", inSrc("daemon/worker"), [
		inSrc("daemon/worker", "lib", "platform", "protocol", "session"),
		`${src}daemon/journal[./]`,
	]),
	mayImport("daemon-parts-stand-alone", `${src}daemon/(journal|catalog|launch)[./]`, [
		`${src}daemon/$1[./]`,
		inSrc("lib", "platform", "protocol"),
	]),
];

const packages = [
	{
		name: "loop-uses-only-pi-ai",
		severity: "error",
		from: { path: inPackages("loop"), pathNot: tests },
		to: { path: [ours, "^node_modules/"], pathNot: [inPackages("loop"), piAi, fetchLibrary] },
	},
	{
		name: "only-the-transport-fetches",
		severity: "error",
		from: { path: ours, pathNot: transport },
		to: { path: fetchLibrary },
	},
	mayImport("toolset-uses-loop", inPackages("toolset"), [inPackages("toolset", "loop")]),
	mayImport("agent-uses-loop-and-toolset", inPackages("agent"), [inPackages("agent", "loop", "toolset")]),
	mayImport("panes-stands-alone", inPackages("panes"), [inPackages("panes")]),
	{
		name: "product-uses-its-packages",
		severity: "error",
		from: { path: inPackages("prime-agent"), pathNot: tests },
		to: { path: ours, pathNot: inPackages("prime-agent", "loop", "toolset", "panes") },
	},
	onlyTypes(
		"testkit-takes-types",
		inPackages("testkit"),
		inPackages("loop", "toolset", "agent", "panes", "prime-agent"),
	),
	{
		name: "no-deep-imports",
		severity: "error",
		from: { path: "^packages/([^/]+)/" },
		to: { path: "^packages/[^/]+/", pathNot: ["^packages/$1/", "^packages/[^/]+/src/index\\.ts$"] },
	},
	{
		name: "no-deep-imports-from-outside",
		severity: "error",
		from: { path: "^(e2e|bench|scripts)/" },
		to: { path: ours, pathNot: "^packages/[^/]+/src/index\\.ts$" },
	},
	{
		name: "nobody-ships-tests",
		severity: "error",
		from: { path: ours, pathNot: [tests, inPackages("testkit")] },
		to: { path: [tests, inPackages("testkit")] },
	},
	{
		name: "nobody-imports-the-composition",
		severity: "error",
		from: { path: ours, pathNot: [tests, composition] },
		to: { path: composition, pathNot: `${src}features/views\\.ts$` },
	},
	{
		name: "only-modes-import-the-views",
		severity: "error",
		from: { path: ours, pathNot: [tests, composition, inSrc("modes")] },
		to: { path: `${src}features/views\\.ts$` },
	},
];

const processHomes = [
	inSrc("platform", "kernel", "daemon", "install"),
	"^packages/panes/src/(tmux|dispatch|drive)[./]",
	"^packages/toolset/src/environment[./]",
	inPackages("testkit"),
];

const fileHomes = [
	...processHomes,
	inSrc("resources", "settings", "auth", "cli"),
	`${src}session/storage[./]`,
	"^packages/panes/src/(cli|clis|hooks)[./]",
	"^packages/toolset/src/(tools|project-docs)[./]",
	inPackages("agent"),
];

const builtins = [
	{
		name: "processes-have-homes",
		severity: "error",
		from: { path: ours, pathNot: [tests, ...processHomes] },
		to: { path: "^(child_process|net)$", dependencyTypes: ["core"] },
	},
	{
		name: "files-have-homes",
		severity: "error",
		from: { path: ours, pathNot: [tests, ...fileHomes] },
		to: { path: "^fs(/promises)?$", dependencyTypes: ["core"] },
	},
];

const everywhere = [
	{ name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
	{ name: "imports-resolve", severity: "error", from: {}, to: { couldNotResolve: true } },
];

module.exports = {
	forbidden: [...layers, ...features, ...daemon, ...packages, ...builtins, ...everywhere],
	options: {
		tsPreCompilationDeps: true,
		tsConfig: { fileName: "tsconfig.json" },
		detectProcessBuiltinModuleCalls: true,
		doNotFollow: { path: "^node_modules/" },
		exclude: { path: "/(dist|fixtures)/" },
		enhancedResolveOptions: {
			exportsFields: ["exports"],
			conditionNames: ["import", "types", "node", "default"],
			extensions: [".ts", ".js", ".mjs", ".cjs", ".json"],
		},
	},
};
