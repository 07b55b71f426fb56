import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { type Bench, type Figure, measure } from "./measure.ts";

// npm run bench [-- name…]: measures the figures of bench/*.bench.ts, those of the named files only if names are given,
// prints each as a ratio to its floor, and fails when one is above its limit.
// BENCH_COUNT sets the samples, 15 if unset.

const count = Number(process.env.BENCH_COUNT ?? 15);
const names = process.argv.slice(2);
const root = resolve(import.meta.dirname, "..");

const build = spawnSync(process.execPath, [join(root, "scripts/build.ts")], { encoding: "utf8" });
if (build.status !== 0) console.error(`The bundle could not be built:\n${build.stderr}`);

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".bench.ts"));
const chosen = files.filter((file) => names.length === 0 || names.includes(file.replace(/\.bench\.ts$/, "")));
if (chosen.length === 0) {
	console.error(
		`There is no such bench. There are: ${files.map((file) => file.replace(/\.bench\.ts$/, "")).join(", ")}`,
	);
	process.exitCode = 1;
}
const load = loadavg()[0] ?? 0;
if (load > availableParallelism()) {
	console.log(
		`The machine is busy (load ${load.toFixed(1)} on ${availableParallelism()} cores): of these figures, trust the best ones only.`,
	);
}
for (const file of chosen) {
	const bench = (await import(join(import.meta.dirname, file))) as Bench;
	try {
		for (const figure of bench.figures) await show(figure);
	} finally {
		await bench.close?.();
	}
}

async function show(figure: Figure): Promise<void> {
	const reason = await figure.unavailable?.();
	if (reason !== undefined) {
		console.log(`${figure.name.padEnd(42)} not available: ${reason}`);
		return;
	}
	const { subject, floor, ratio, best } = await measure(figure, count);
	const isTooMuch = figure.most !== undefined && subject > figure.most;
	const isBroken = isTooMuch || (figure.limit !== undefined && ratio > figure.limit);
	if (isBroken) process.exitCode = 1;
	const limits = [
		...(figure.limit === undefined ? [] : [`${figure.limit}×`]),
		...(figure.most === undefined ? [] : [`${figure.most} ${figure.unit}`]),
	];
	const limit = limits.length === 0 ? "" : `, limit ${limits.join(" and ")}${isBroken ? "  BROKEN" : ""}`;
	const values = `${subject.toFixed(1)} ${figure.unit} / ${floor.toFixed(1)} ${figure.unit} ${figure.floorName}, best ${best.toFixed(2)}×`;
	console.log(`${figure.name.padEnd(42)} ${ratio.toFixed(2)}×  (${values}, n ${count}${limit})`);
}
