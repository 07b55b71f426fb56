import { loadConfig } from "../clis/config.ts";
import { findCli } from "../clis/index.ts";
import { commandOf, resolveAgent } from "../compose/resolve.ts";
import type { WorkerKey } from "../dispatch/record.ts";
import { findRoot } from "../dispatch/record.ts";
import { type DispatchMode, selectMode } from "../dispatch/state.ts";
import {
	cleanWorkers,
	type Dispatch,
	deliverWorker,
	filesOf,
	hasWorkerPane,
	killWorker,
	openWorker,
	probeWorker,
	reapWorker,
	refuseRunning,
	startWorker,
	viewWorker,
	type WorkerView,
	waitWorker,
} from "../dispatch/worker.ts";
import { requireCommand } from "../drive/program.ts";
import { PaneError } from "../errors.ts";
import type { Command, CommandWorld, ParsedLine } from "./command.ts";
import { makeDrive, namesServer, printResult, SERVER_FLAGS } from "./drive.ts";
import { usage } from "./parse.ts";

/** `agent-tmux dispatch` */
export const dispatch: Command = {
	spec: {
		name: "dispatch",
		form: "VERB KEY STAGE [options]",
		summary: "Start, prompt, watch and end workers whose files are kept in .agent-dispatch/KEY.",
		flags: {
			provider: { value: "P", help: "provider instead of the stage's own" },
			timeout: { value: "S", help: "start: limit of the run; wait: limit of the wait (seconds)" },
			pane: { help: "start, restart: in a pane" },
			headless: { help: "start, restart: without a terminal" },
			"prompt-file": { value: "PATH", help: "deliver: another file than the worker's prompt, from the root" },
			tail: { value: "N", help: "logs: only the last rows" },
			orphans: { help: "clean: all keys whose workers are orphaned" },
			"trust-project": { help: "let the project's file name commands" },
			...SERVER_FLAGS,
		},
		arity: [1, 3],
		notes: [
			"open, start: the prompt is read from standard input. Then for a pane: ready, deliver.",
			"status, wait: running, done, failed, failed (no-result) or orphaned. A worker is done when it has written",
			"STAGE-result.yaml with stage, status and summary. Also: restart, logs, kill, reap, clean [KEY].",
		],
	},
	run: async (line, world) => {
		const [verb = "", key = "", stage = ""] = line.positionals;
		const run = VERBS[verb];
		if (run === undefined)
			throw usage(dispatch.spec, `unknown verb "${verb}"; known: ${Object.keys(VERBS).join(", ")}`);
		if (verb !== "clean" && stage === "") throw usage(dispatch.spec, `${verb} needs KEY and STAGE`);
		return run(line, world, await makeDispatch(line, world), { key, stage });
	},
};

type Verb = (line: ParsedLine, world: CommandWorld, context: Context, worker: WorkerKey) => Promise<number>;

interface Context extends Dispatch {
	readonly mode: DispatchMode;
	/** The composed command of a worker; undefined when the provider has none of this form. */
	readonly commandOf: (worker: WorkerKey, form: "interactive" | "headless") => string;
	readonly providerOf: (worker: WorkerKey) => string;
	readonly isNative: (worker: WorkerKey) => boolean;
	readonly needsTerminal: (worker: WorkerKey) => boolean;
}

const VERBS: Readonly<Record<string, Verb>> = {
	open: async (line, world, context, worker) => {
		const command = context.commandOf(worker, "interactive");
		await refuseRunning(context, worker);
		await requireWorkerProgram(context, worker, command);
		await openAndReport(line, world, context, worker, command, await world.readInput());
		return 0;
	},
	start: async (line, world, context, worker) => {
		const picked = pickMode(line, context, worker);
		if (picked.mode === "pane") {
			throw new PaneError(
				"wrong_mode",
				`this lands in a pane (${picked.reason}); use: agent-tmux dispatch open ${worker.key} ${worker.stage}`,
			);
		}
		const command = context.commandOf(worker, "headless");
		await refuseRunning(context, worker);
		await startAndReport(line, world, context, worker, command, await world.readInput(), picked.reason);
		return 0;
	},
	restart: async (line, world, context, worker) => {
		await refuseRunning(context, worker);
		const prompt = filesOf(context, worker).readPrompt();
		if (prompt === undefined)
			throw new PaneError("prompt_missing", `worker ${worker.key}/${worker.stage} has no prompt on disk`);
		const picked = pickMode(line, context, worker);
		if (picked.mode === "headless") {
			await startAndReport(line, world, context, worker, context.commandOf(worker, "headless"), prompt, picked.reason);
			return 0;
		}
		const command = context.commandOf(worker, "interactive");
		await requireWorkerProgram(context, worker, command);
		await openAndReport(line, world, context, worker, command, prompt);
		world.note("the prompt is not delivered yet: ready and deliver must follow");
		return 0;
	},
	ready: async (line, world, context, worker) => {
		const { word, reason, snippet, pane } = await probeWorker(context, worker);
		const rows = snippet === "" ? "" : `\n--- last 20 lines ---\n${snippet}`;
		const text = word === "ready" ? word : `${word}\npane: ${pane}${rows}`;
		printResult(line, world, { ...worker, state: word, reason, pane, snippet }, text);
		return 0;
	},
	deliver: async (line, world, context, worker) => {
		const { pane, path } = await deliverWorker(context, worker, line.text("prompt-file"));
		const text = `delivered ${worker.key}/${worker.stage} (pane ${pane}, prompt ${path})`;
		printResult(line, world, { ...worker, pane, source: "prompt", path }, text);
		return 0;
	},
	status: async (line, world, context, worker) => reportState(line, world, worker, await viewWorker(context, worker)),
	wait: async (line, world, context, worker) => {
		const timeoutMs = (line.number("timeout", 0) ?? 0) * 1000;
		return reportState(line, world, worker, await waitWorker(context, worker, timeoutMs));
	},
	logs: async (line, world, context, worker) => {
		const { record, files } = await viewWorker(context, worker);
		if (record.pane !== undefined) {
			if (!(await hasWorkerPane(context, record))) {
				const words = `${worker.key} ${worker.stage}`;
				throw new PaneError(
					"gone",
					`the pane of worker ${words} is gone, and its id may belong to another program now; ` +
						`start it again with: agent-tmux dispatch restart ${words}`,
				);
			}
			const server = record.server === undefined ? "" : ` -L ${record.server}`;
			throw new PaneError(
				"wrong_mode",
				`a pane worker has no log; look with: agent-tmux capture ${record.pane}${server}`,
			);
		}
		const rows = files.readLog().trimEnd().split("\n");
		const count = line.number("tail", 1);
		world.print((count === undefined ? rows : rows.slice(-count)).join("\n"));
		return 0;
	},
	kill: async (line, world, context, worker) => {
		const isKilled = await killWorker(context, worker);
		const name = `${worker.key}/${worker.stage}`;
		printResult(line, world, { ...worker, killed: isKilled }, isKilled ? `killed ${name}` : `${name} was already dead`);
		return 0;
	},
	reap: async (line, world, context, worker) => {
		const reason = (await reapWorker(context, worker)) ?? null;
		const name = `${worker.key}/${worker.stage}`;
		printResult(
			line,
			world,
			{ ...worker, reaped: reason === null, reason },
			reason === null ? `reaped ${name}` : `kept ${name}: ${reason}`,
		);
		return 0;
	},
	clean: async (line, world, context, worker) => {
		const key = worker.key === "" ? undefined : worker.key;
		if ((key === undefined) !== line.has("orphans")) throw usage(dispatch.spec, "clean needs KEY or --orphans");
		const removed = await cleanWorkers(context, key);
		printResult(
			line,
			world,
			{ removed },
			removed.length === 0 ? "nothing to clean" : removed.map((each) => `removed ${each}`).join("\n"),
		);
		return 0;
	},
};

async function makeDispatch(line: ParsedLine, world: CommandWorld): Promise<Context> {
	const drive = makeDrive(line, world);
	const root = await findRoot(world.cwd);
	const { env, warn } = drive;
	const config = await loadConfig({ cwd: root, env, warn, trustProject: line.has("trust-project") });
	const resolve = (worker: WorkerKey) =>
		resolveAgent(config.table, { selector: worker.stage, provider: line.text("provider") });
	return {
		...{ drive, root, dir: config.dispatch.dir, server: namesServer(line) ? line.text("server") : undefined },
		...{
			columnWidth: config.dispatch.columnWidth,
			floor: config.dispatch.floor,
			reapDone: config.dispatch.reapDone,
			mode: config.dispatch.mode,
		},
		commandOf: (worker, form) => commandOf(resolve(worker), form),
		providerOf: (worker) => resolve(worker).providerName,
		isNative: (worker) => resolve(worker).provider.isNative,
		needsTerminal: (worker) => findCli(resolve(worker).providerName)?.needsTerminal ?? false,
	};
}

function pickMode(
	line: ParsedLine,
	context: Context,
	worker: WorkerKey,
): { mode: "pane" | "headless"; reason: string } {
	const isHeadless = line.has("headless") || line.has("timeout");
	const isPane = line.has("pane") || context.server !== undefined;
	const forced = isHeadless ? "headless" : isPane ? "pane" : undefined;
	const can = {
		pane: context.drive.env.TMUX_PANE !== undefined && hasCommand(context, worker, "interactive"),
		native: context.isNative(worker),
		headless: hasCommand(context, worker, "headless"),
	};
	const picked = selectMode(context.mode, can, forced);
	if (picked === undefined)
		throw new PaneError("no_capability", "the provider can run in no mode; see: agent-tmux print -o yaml");
	if (picked.mode !== "native") return { mode: picked.mode, reason: picked.reason };
	throw new PaneError(
		"wrong_mode",
		`${picked.reason}: the caller runs this worker itself; ask for --pane or --headless`,
	);
}

function hasCommand(context: Context, worker: WorkerKey, form: "interactive" | "headless"): boolean {
	try {
		return context.commandOf(worker, form) !== "";
	} catch (error) {
		if (error instanceof PaneError && error.code === "no_capability") return false;
		throw error;
	}
}

/** Before anything is read or written for the worker. */
function requireWorkerProgram(context: Context, worker: WorkerKey, command: string): Promise<void> {
	const key = `providers.${context.providerOf(worker)}.interactive_command`;
	return requireCommand(context.drive, command, { cwd: context.root, key });
}

async function openAndReport(
	line: ParsedLine,
	world: CommandWorld,
	context: Context,
	worker: WorkerKey,
	command: string,
	prompt: string,
): Promise<void> {
	const caller = context.server === undefined ? context.drive.env.TMUX_PANE : undefined;
	const pane = await openWorker(context, worker, { command, prompt, caller });
	const where = pane.shape === "split" ? `split, title ${pane.title}` : `window ${pane.title}`;
	const text = `opened ${worker.key}/${worker.stage} (pane ${pane.id}, ${where})`;
	printResult(
		line,
		world,
		{ ...worker, pane: pane.id, window: pane.windowId, shape: pane.shape, title: pane.title },
		text,
	);
}

async function startAndReport(
	line: ParsedLine,
	world: CommandWorld,
	context: Context,
	worker: WorkerKey,
	command: string,
	prompt: string,
	reason: string,
): Promise<void> {
	const needsTerminal = context.needsTerminal(worker);
	const timeoutSeconds = line.number("timeout", 1);
	const pid = await startWorker(context, worker, { command, prompt, timeoutSeconds, needsTerminal });
	printResult(
		line,
		world,
		{ ...worker, pid, mode: "headless", reason },
		`started ${worker.key}/${worker.stage} (pid ${pid}; ${reason})`,
	);
}

function reportState(line: ParsedLine, world: CommandWorld, worker: WorkerKey, view: WorkerView): number {
	const { record, state, files } = view;
	const { pid, pgid, pane, window, server, pane_pid, delivered } = record;
	const exit = files.readExit()?.trim();
	const facts =
		pane === undefined ? { pid, pgid, exit } : { pane, window, server, pane_pid, delivered: delivered ?? false };
	printResult(line, world, { ...worker, state, mode: pane === undefined ? "headless" : "pane", ...facts }, state);
	return 0;
}
