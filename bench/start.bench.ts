import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { startModelServer } from "./first-request.ts";
import { type Figure, type Program, runProgram, timeProgram, weighProgram } from "./measure.ts";

// What a start costs, against `node -e 0` of the same Node.js. The limits are those of the project's first release.

const root = resolve(import.meta.dirname, "..");
const node = process.execPath;
const server = await startModelServer();
const { env, folder: cwd } = server;
const nothing: Program = { file: node, args: ["-e", "0"], env, cwd };
const bundle = (name: string) => join(root, "packages", name, "dist/main.js");
const program = (name: string, ...args: string[]): Program => ({ file: node, args: [bundle(name), ...args], env, cwd });
const prompt = program("prime-agent", "-p", "--model", "bench/bench", "hi");

/** What `bench/run.ts` measures. */
export const figures: Figure[] = [
	startFigure("prime-agent --version", program("prime-agent", "--version")),
	startFigure("prime-agent --help", program("prime-agent", "--help")),
	startFigure("agent --help", program("agent", "--help")),
	startFigure("agent-tmux --help", program("panes", "--help")),
	{
		name: "prime-agent.sh --version, nothing to set up",
		unit: "ms",
		floorName: "prime-agent --version",
		floor: () => timeProgram(program("prime-agent", "--version")),
		subject: () => timeProgram({ file: join(root, "prime-agent.sh"), args: ["--version"], env, cwd }),
		unavailable: () => tryProgram(program("prime-agent", "--version")),
	},
	{
		name: "prime-agent -p, start to first request",
		unit: "ms",
		limit: 4,
		floorName: "node -e 0",
		floor: () => timeProgram(nothing),
		subject: timeFirstRequest,
		unavailable: () => tryProgram(prompt),
	},
	{
		name: "prime-agent -p, peak memory",
		unit: "MB",
		limit: 2.3,
		floorName: "node -e 0",
		floor: () => weighProgram(nothing),
		subject: () => weighProgram(prompt),
		unavailable: () => tryProgram(prompt),
	},
];

/** Ends the server and removes its folder. */
export const close = server.close;

function startFigure(name: string, subject: Program): Figure {
	return {
		name,
		unit: "ms",
		limit: 1.5,
		floorName: "node -e 0",
		floor: () => timeProgram(nothing),
		subject: () => timeProgram(subject),
		unavailable: () => tryProgram(subject),
	};
}

async function timeFirstRequest(): Promise<number> {
	const started = performance.now();
	await runProgram(prompt);
	const request = server.lastRequest();
	if (request === undefined || request < started) throw new Error("prime-agent -p ended without a request");
	return request - started;
}

/** Why a program does not work here, or nothing. */
async function tryProgram(tried: Program): Promise<string | undefined> {
	if (!existsSync(tried.args[0] ?? "")) return "there is no bundle";
	return runProgram(tried).then(
		() => undefined,
		(error: Error) => error.message.split("\n")[0],
	);
}
