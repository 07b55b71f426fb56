import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { ExecutionEnvironment } from "../../environment/environment.ts";
import { type RawText, toBytes } from "../raw-text.ts";
import { ToolFailure } from "../tool.ts";

/** One change of the disk that a patch comes to; paths are absolute. */
export type PatchStep =
	| { kind: "write"; path: string; raw: RawText /** Whose mode the file gets. */; like: string | undefined }
	| { kind: "delete"; path: string };

/** What was done and how to take it back. */
interface Done {
	path: string;
	undo(): Promise<void>;
	/** Gives up the way back. */
	commit?(): Promise<void>;
}

/** The last step for each path; writes come before deletions, so that a failure finds the old files in their places. */
function settleSteps(steps: readonly PatchStep[]): PatchStep[] {
	const last = [...new Map(steps.map((step) => [step.path, step])).values()];
	return [...last.filter(({ kind }) => kind === "write"), ...last.filter(({ kind }) => kind === "delete")];
}

async function writeOne(
	environment: ExecutionEnvironment,
	{ path, raw, like }: Extract<PatchStep, { kind: "write" }>,
	signal: AbortSignal,
): Promise<Done> {
	const old = (await environment.stat(path)) ? await environment.readFile(path, signal) : undefined;
	await environment.writeFile(path, toBytes(raw), like);
	const undo = () => (old ? environment.writeFile(path, old) : environment.deleteFile(path));
	return { path, undo };
}

/** Another spelling of the name at `path`, as on disks that do not tell upper from lower case, that was written. */
async function findRespelled(environment: ExecutionEnvironment, path: string, written: string[]) {
	const old = await environment.stat(path);
	if (old?.identity === undefined) return undefined;
	for (const one of written) {
		const isSame = (await environment.stat(one))?.identity === old.identity;
		if (isSame && (await environment.resolvePath(path)) !== one) return one;
	}
	return undefined;
}

async function deleteOne(environment: ExecutionEnvironment, path: string, written: string[]): Promise<Done> {
	const respelled = await findRespelled(environment, path, written);
	if (respelled !== undefined) {
		await environment.renameFile(path, respelled);
		return { path, undo: () => environment.renameFile(respelled, path) };
	}
	// Set aside until everything else is done: so it can come back as what it was, link or file.
	const name = `.${basename(path).slice(0, 64)}.${randomBytes(6).toString("hex")}.tmp`;
	const aside = join(dirname(path), name);
	await environment.renameFile(path, aside);
	return {
		path,
		undo: () => environment.renameFile(aside, path),
		commit: () => environment.deleteFile(aside),
	};
}

/** Takes back what was done, latest first, and answers what could not be taken back. */
async function undoAll(done: readonly Done[]): Promise<string[]> {
	const left: string[] = [];
	for (const { path, undo } of done.toReversed()) {
		await undo().catch(() => left.push(path));
	}
	return left;
}

/**
 * Carries out the steps of a patch, all or none: when one fails, those before it are taken back. Throws a `ToolFailure`
 * that says why and what, if anything, stays changed.
 */
export async function writeSteps(
	environment: ExecutionEnvironment,
	steps: readonly PatchStep[],
	signal: AbortSignal,
): Promise<void> {
	const done: Done[] = [];
	const written: string[] = [];
	try {
		for (const step of settleSteps(steps)) {
			if (step.kind === "write") {
				done.push(await writeOne(environment, step, signal));
				written.push(step.path);
			} else if (await environment.stat(step.path)) done.push(await deleteOne(environment, step.path, written));
		}
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		const left = await undoAll(done);
		const state = left.length === 0 ? "Nothing was changed." : `These could not be taken back: ${left.join(", ")}.`;
		throw new ToolFailure(`The patch could not be written: ${reason}. ${state}`, error);
	}
	for (const { commit } of done) await commit?.();
}
