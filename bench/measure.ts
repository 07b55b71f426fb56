import { type SpawnOptions, spawn } from "node:child_process";
import { join } from "node:path";

/** One sample of a figure, in the figure's unit. */
export type Sampler = () => Promise<number>;

/** One figure: how much more the subject costs than the floor, which is measured in the same run. */
export interface Figure {
	name: string;
	unit: "ms" | "MB" | "calls";
	/** The highest allowed ratio of subject to floor; without one the figure is only shown. */
	limit?: number;
	/** The highest allowed value of the subject, in the figure's unit. */
	most?: number;
	floorName: string;
	floor: Sampler;
	subject: Sampler;
	/** Why the figure cannot be measured here, or nothing. */
	unavailable?: () => Promise<string | undefined>;
}

/** What a bench file exports as `figures`, with a function that is called when they are measured. */
export interface Bench {
	figures: Figure[];
	close?: () => Promise<void>;
}

/** The medians of a figure over `count` samples each. */
export interface Result {
	subject: number;
	floor: number;
	ratio: number;
	/** The ratio of the lowest samples, which a busy machine disturbs least. */
	best: number;
	count: number;
}

/** Takes samples of floor and subject in turn, so that both meet the same machine; the first pair only warms up. */
export async function measure(figure: Figure, count: number): Promise<Result> {
	const floors: number[] = [];
	const subjects: number[] = [];
	for (let round = 0; round <= count; round += 1) {
		const floor = await figure.floor();
		const subject = await figure.subject();
		if (round === 0) continue;
		floors.push(floor);
		subjects.push(subject);
	}
	const floor = findMedian(floors);
	const subject = findMedian(subjects);
	return { subject, floor, ratio: subject / floor, best: Math.min(...subjects) / Math.min(...floors), count };
}

/** The middle value, or the mean of the two middle ones. */
export function findMedian(values: number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** A program to run: its file, arguments and, if not the caller's, environment and folder. */
export interface Program {
	file: string;
	args: string[];
	env?: NodeJS.ProcessEnv;
	cwd?: string;
}

/** Runs a program to its end without input and gives the milliseconds; fails when it fails. */
export async function timeProgram(program: Program): Promise<number> {
	const started = performance.now();
	await runProgram(program);
	return performance.now() - started;
}

/** Runs a program of Node.js and gives the most memory in MB that its process held at once. */
export async function weighProgram(program: Program): Promise<number> {
	const env = {
		...(program.env ?? process.env),
		NODE_OPTIONS: `--require=${JSON.stringify(join(import.meta.dirname, "weigh.cjs"))}`,
	};
	const said = await runProgram({ ...program, env }, 3);
	const peak = Number(said);
	if (!(peak > 0)) throw new Error(`${program.file} ${program.args.join(" ")} did not tell its memory: ${said}`);
	return peak / 1024;
}

/** Resolves with what the program wrote to the given descriptor, stdout if none. */
export function runProgram(program: Program, descriptor: 1 | 3 = 1): Promise<string> {
	const options: SpawnOptions = { stdio: ["ignore", "pipe", "pipe", "pipe"], cwd: program.cwd, env: program.env };
	const child = spawn(program.file, program.args, options);
	const texts = ["", "", "", ""];
	for (const index of [1, 2, 3]) {
		child.stdio[index]?.on("data", (data: Buffer) => {
			texts[index] += data.toString();
		});
	}
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => {
			if (code === 0) resolve(texts[descriptor] ?? "");
			else reject(new Error(`${program.file} ${program.args.join(" ")} ended with ${signal ?? code}: ${texts[2]}`));
		});
	});
}
