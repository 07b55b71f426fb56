import type { ExecutionEnvironment } from "../../environment/environment.ts";
import { type PathLocks, showPath } from "../paths.ts";
import { encodeRaw, type RawText, toBytes, toRaw } from "../raw-text.ts";
import { type CodingTool, defineTool, ToolFailure } from "../tool.ts";
import { applyChunks } from "./apply.ts";
import { listPatchPaths, type PatchOperation, parsePatch } from "./parse.ts";

/** One change of the disk that a patch comes to. */
type Step = { kind: "write"; path: string; raw: RawText } | { kind: "delete"; path: string };

interface Plan {
	steps: Step[];
	report: string[];
}

/** The files as they would be after the operations so far. */
class PlannedFiles {
	readonly #environment: ExecutionEnvironment;
	readonly #signal: AbortSignal;
	/** By real path; `undefined` stands for a deleted file. */
	readonly #planned = new Map<string, RawText | undefined>();

	constructor(environment: ExecutionEnvironment, signal: AbortSignal) {
		this.#environment = environment;
		this.#signal = signal;
	}

	async has(path: string): Promise<boolean> {
		const real = await this.#environment.resolvePath(path);
		if (this.#planned.has(real)) return this.#planned.get(real) !== undefined;
		const status = await this.#environment.stat(real);
		if (status?.kind === "directory") throw new ToolFailure(`${path} is a directory. Nothing was changed.`);
		return status !== undefined;
	}

	async read(path: string): Promise<RawText> {
		if (!(await this.has(path))) throw new ToolFailure(`${path}: not found. Nothing was changed.`);
		const real = await this.#environment.resolvePath(path);
		return this.#planned.get(real) ?? toRaw(await this.#environment.readFile(real, this.#signal));
	}

	/** Whether two paths lead to one file. */
	async isSame(a: string, b: string): Promise<boolean> {
		return (await this.#environment.resolvePath(a)) === (await this.#environment.resolvePath(b));
	}

	async set(path: string, raw: RawText | undefined): Promise<string> {
		const real = await this.#environment.resolvePath(path);
		this.#planned.set(real, raw);
		return real;
	}
}

async function planOperation(operation: PatchOperation, files: PlannedFiles, plan: Plan): Promise<void> {
	const { path } = operation;
	const write = async (target: string, raw: RawText) => {
		plan.steps.push({ kind: "write", path: await files.set(target, raw), raw });
	};
	const remove = async (target: string) => {
		await files.set(target, undefined);
		// A link is removed itself, not the file behind it.
		plan.steps.push({ kind: "delete", path: target });
	};
	if (operation.kind === "add") {
		plan.report.push(`${(await files.has(path)) ? "M" : "A"} ${path}`);
		await write(path, operation.lines.map((line) => `${encodeRaw(line)}\n`).join(""));
	} else if (operation.kind === "delete") {
		if (!(await files.has(path)))
			throw new ToolFailure(`${path}: not found, so it cannot be deleted. Nothing was changed.`);
		plan.report.push(`D ${path}`);
		await remove(path);
	} else {
		const raw = applyChunks(path, await files.read(path), operation.chunks);
		if (operation.moveTo === undefined || (await files.isSame(path, operation.moveTo))) {
			plan.report.push(`M ${path}`);
			await write(path, raw);
		} else {
			plan.report.push(`D ${path}`, `${(await files.has(operation.moveTo)) ? "M" : "A"} ${operation.moveTo}`);
			await write(operation.moveTo, raw);
			await remove(path);
		}
	}
}

async function writeSteps(environment: ExecutionEnvironment, steps: Step[]): Promise<void> {
	const done: string[] = [];
	for (const step of steps) {
		try {
			if (step.kind === "write") await environment.writeFile(step.path, toBytes(step.raw));
			else await environment.deleteFile(step.path);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			const before = done.length === 0 ? "Nothing was changed." : `Already changed: ${done.join(", ")}.`;
			throw new ToolFailure(`The patch could not be written: ${reason}. ${before}`, error);
		}
		done.push(step.path);
	}
}

function describePatch(environment: ExecutionEnvironment, patch: string | undefined): Promise<string> {
	const paths = typeof patch === "string" ? listPatchPaths(patch) : [];
	return Promise.all(paths.map((path) => showPath(environment, path))).then((shown) => shown.join(" "));
}

const description = `Changes files by a patch, which is checked whole before anything is written. Format:
*** Begin Patch
*** Add File: path        (every line of the new file begins with +)
*** Delete File: path
*** Update File: path     (optionally followed by *** Move to: new path)
@@ a line before the place, such as the head of its function
 a line that stays
-a line to remove
+a line to add
*** End Patch
Give about three lines that stay around each change; begin a further place of the same file with @@.`;

/** The tool that applies a patch over several files. */
export function createPatchTool(environment: ExecutionEnvironment, locks: PathLocks): CodingTool {
	return defineTool<{ patch: string }>({
		name: "apply_patch",
		label: "apply_patch",
		toolClass: "write",
		description,
		properties: { patch: { type: "string", description: "The patch, from *** Begin Patch to *** End Patch." } },
		required: ["patch"],
		prepareArguments(raw) {
			if (typeof raw !== "object" || raw === null || "patch" in raw || !("input" in raw)) return raw;
			return { patch: raw.input };
		},
		describeCall: (args) => describePatch(environment, args.patch ?? (args as { input?: string }).input),
		async run({ patch }, { signal }) {
			const operations = parsePatch(patch);
			const real = await Promise.all(listPatchPaths(patch).map((path) => environment.resolvePath(path)));
			return locks.hold(real, async () => {
				const plan: Plan = { steps: [], report: [] };
				const files = new PlannedFiles(environment, signal);
				for (const operation of operations) await planOperation(operation, files, plan);
				signal.throwIfAborted();
				await writeSteps(environment, plan.steps);
				return { text: `The patch was applied:\n${plan.report.join("\n")}` };
			});
		},
	});
}
