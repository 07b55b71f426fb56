import { basename, dirname, join } from "node:path";
import type { ExecutionEnvironment } from "../../environment/environment.ts";
import { type PathLocks, showPath } from "../paths.ts";
import { encodeRaw, type RawText, toRaw } from "../raw-text.ts";
import { type CodingTool, defineTool, ToolFailure } from "../tool.ts";
import { applyChunks } from "./apply.ts";
import { listPatchPaths, type PatchOperation, parsePatch } from "./parse.ts";
import { type PatchStep, writeSteps } from "./write.ts";

interface Plan {
	steps: PatchStep[];
	report: string[];
}

/** The files as they would be after the operations so far. */
class PlannedFiles {
	readonly #environment: ExecutionEnvironment;
	readonly #signal: AbortSignal;
	/** By file; `undefined` stands for a deleted one. */
	readonly #planned = new Map<string, RawText | undefined>();
	/** By real path: the file whose mode a moved one takes along. */
	readonly #models = new Map<string, string>();

	constructor(environment: ExecutionEnvironment, signal: AbortSignal) {
		this.#environment = environment;
		this.#signal = signal;
	}

	/** What stands for the file behind a path, also under another spelling of its name. */
	async #identify(path: string): Promise<string> {
		const real = await this.#environment.resolvePath(path);
		return (await this.#environment.stat(real))?.identity ?? real;
	}

	async has(path: string): Promise<boolean> {
		const file = await this.#identify(path);
		if (this.#planned.has(file)) return this.#planned.get(file) !== undefined;
		const status = await this.#environment.stat(path);
		if (status?.kind === "directory") throw new ToolFailure(`${path} is a directory. Nothing was changed.`);
		return status !== undefined;
	}

	async read(path: string): Promise<RawText> {
		if (!(await this.has(path))) throw new ToolFailure(`${path}: not found. Nothing was changed.`);
		const planned = this.#planned.get(await this.#identify(path));
		return planned ?? toRaw(await this.#environment.readFile(path, this.#signal));
	}

	/** Whether two paths are one. */
	async isSame(a: string, b: string): Promise<boolean> {
		return (await this.#environment.resolvePath(a)) === (await this.#environment.resolvePath(b));
	}

	async write(path: string, raw: RawText, like?: string): Promise<PatchStep> {
		this.#planned.set(await this.#identify(path), raw);
		const real = await this.#environment.resolvePath(path);
		if (like !== undefined) this.#models.set(real, like);
		return { kind: "write", path: real, raw, like };
	}

	/** A link is removed itself, not the file behind it. */
	async remove(path: string): Promise<PatchStep> {
		const place = join(await this.#environment.resolvePath(dirname(path)), basename(path));
		const isLink = place !== (await this.#environment.resolvePath(path));
		if (!isLink) this.#planned.set(await this.#identify(path), undefined);
		return { kind: "delete", path: place };
	}

	/** The file on the disk whose mode the one at `path` has; `undefined` for one that only the patch makes. */
	async findModel(path: string): Promise<string | undefined> {
		const real = await this.#environment.resolvePath(path);
		return this.#models.get(real) ?? ((await this.#environment.stat(real)) ? real : undefined);
	}
}

async function planOperation(operation: PatchOperation, files: PlannedFiles, plan: Plan): Promise<void> {
	const { path } = operation;
	if (operation.kind === "add") {
		plan.report.push(`${(await files.has(path)) ? "M" : "A"} ${path}`);
		plan.steps.push(await files.write(path, operation.lines.map((line) => `${encodeRaw(line)}\n`).join("")));
	} else if (operation.kind === "delete") {
		if (!(await files.has(path)))
			throw new ToolFailure(`${path}: not found, so it cannot be deleted. Nothing was changed.`);
		plan.report.push(`D ${path}`);
		plan.steps.push(await files.remove(path));
	} else {
		const raw = applyChunks(path, await files.read(path), operation.chunks);
		if (operation.moveTo === undefined || (await files.isSame(path, operation.moveTo))) {
			plan.report.push(`M ${path}`);
			plan.steps.push(await files.write(path, raw));
		} else {
			plan.report.push(`D ${path}`, `${(await files.has(operation.moveTo)) ? "M" : "A"} ${operation.moveTo}`);
			const like = await files.findModel(path);
			plan.steps.push(await files.remove(path), await files.write(operation.moveTo, raw, like));
		}
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
				await writeSteps(environment, plan.steps, signal);
				return { text: `The patch was applied:\n${plan.report.join("\n")}` };
			});
		},
	});
}
