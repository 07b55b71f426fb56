import { formatAge, readAgentState } from "../drive/agent-state.ts";
import { callOptions } from "../drive/context.ts";
import { type MapRow, mapPanes } from "../drive/map.ts";
import { classifyProcess, type ProcessNode, readProcessTree, walkTree } from "../drive/processes.ts";
import { listNames, peekSession } from "../drive/session.ts";
import { findPending } from "../screen/pending.ts";
import { captureTail } from "../tmux/pane.ts";
import type { Command } from "./command.ts";
import { makeDrive, printResult, SERVER_FLAGS } from "./drive.ts";
import { usage } from "./parse.ts";
import { resolveTarget } from "./target.ts";

/** `agent-tmux peek` */
export const peek: Command = {
	spec: {
		name: "peek",
		form: "TARGET [LINES]",
		summary: "Print the last LINES (40) rows of a session, or of a pane as `capture --raw` does.",
		flags: SERVER_FLAGS,
		arity: [1, 2],
	},
	run: async (line, world) => {
		const [target = "", text = "40"] = line.positionals;
		const lines = countOf(text, peek);
		const drive = makeDrive(line, world);
		if (/^[%@=]/.test(target)) {
			const pane = await resolveTarget(drive, target);
			const rows = await captureTail(drive.tmux, pane.id, lines, callOptions(drive));
			printResult(line, world, { pane: pane.id, lines, content: rows.join("\n") }, rows.join("\n"));
			return 0;
		}
		const content = await peekSession(drive, target, lines);
		printResult(line, world, { session: target, lines, content }, content);
		return 0;
	},
};

/** `agent-tmux list` */
export const list: Command = {
	spec: {
		name: "list",
		form: "",
		summary: "Print the names of the running sessions.",
		flags: SERVER_FLAGS,
		arity: [0, 0],
	},
	run: async (line, world) => {
		const names = await listNames(makeDrive(line, world));
		if (line.has("json")) world.print(JSON.stringify(names));
		else if (names.length > 0) world.print(names.join("\n"));
		return 0;
	},
};

/** `agent-tmux capture` */
export const capture: Command = {
	spec: {
		name: "capture",
		form: "TARGET [-l N] [--raw | --classify]",
		summary: "Print the last N (50) rows of a pane, with its folder and agent state above them.",
		flags: {
			lines: { short: "l", value: "N", help: "how many rows, at least 1" },
			raw: { help: "the rows alone" },
			classify: { help: "also guess which answer the last rows ask for: yes_no, numbered_menu, colon_prompt ..." },
			...SERVER_FLAGS,
		},
		arity: [1, 1],
	},
	run: async (line, world) => {
		if (line.has("json") && line.has("raw")) throw usage(capture.spec, "--json and --raw exclude each other");
		if (line.has("classify") && line.has("raw")) throw usage(capture.spec, "--classify and --raw exclude each other");
		const lines = countOf(line.text("lines") ?? "50", capture);
		const drive = makeDrive(line, world);
		const pane = await resolveTarget(drive, line.positionals[0] ?? "");
		const rows = await captureTail(drive.tmux, pane.id, lines, callOptions(drive));
		const content = rows.length === 0 ? "" : `${rows.join("\n")}\n`;
		const pending = line.has("classify") ? findPending(rows) : undefined;
		const state = await readAgentState(drive, pane);
		const isTimed = state?.word === "idle" || state?.word === "waiting";
		const age = state !== undefined && isTimed ? formatAge(drive.clock.now() / 1000 - state.epoch) : null;
		if (line.has("json")) {
			const facts = { cwd: pane.cwd || null, agent_state: state?.word ?? null, agent_state_duration: age };
			const prompt = pending === undefined ? {} : { prompt: { class: pending.kind, line: pending.line } };
			world.print(JSON.stringify({ pane: pane.id, lines, content, ...facts, ...prompt }));
		} else if (line.has("raw")) {
			if (rows.length > 0) world.print(rows.join("\n"));
		} else {
			const agent = state === undefined ? [] : [`agent: ${state.word}${age === null ? "" : ` (${age})`}`];
			const prompt = pending === undefined ? [] : [`prompt: ${pending.kind}`];
			const context = [...(pane.cwd === "" ? [] : [`cwd: ${pane.cwd}`]), ...agent, ...prompt].join(" | ");
			world.print([`--- pane ${pane.id} ---`, ...(context === "" ? [] : [context]), "---", ...rows].join("\n"));
		}
		return 0;
	},
};

/** `agent-tmux map` */
export const map: Command = {
	spec: {
		name: "map",
		form: "[--session NAME | --all-sessions]",
		summary: "List panes with their commands, folders and agent states.",
		flags: {
			session: { value: "NAME", help: "panes of this tmux session" },
			"all-sessions": { help: "panes of the whole server" },
			...SERVER_FLAGS,
		},
		arity: [0, 0],
	},
	run: async (line, world) => {
		const name = line.text("session");
		if (name !== undefined && line.has("all-sessions"))
			throw usage(map.spec, "--session and --all-sessions exclude each other");
		const scope =
			name !== undefined
				? ({ kind: "session", name } as const)
				: ({ kind: line.has("all-sessions") ? "all" : "caller" } as const);
		const rows = await mapPanes(makeDrive(line, world), scope);
		printResult(line, world, rows, rows.length === 0 ? "No tmux panes found." : drawTable(rows));
		return 0;
	},
};

/** `agent-tmux process` */
export const processTree: Command = {
	spec: {
		name: "process",
		form: "TARGET",
		summary: "Print the tree of processes in a pane and whether an agent is among them.",
		flags: SERVER_FLAGS,
		arity: [1, 1],
	},
	run: async (line, world) => {
		const drive = makeDrive(line, world);
		const pane = await resolveTarget(drive, line.positionals[0] ?? "");
		const tree = await readProcessTree(pane.pid);
		const agentPid = (await readAgentState(drive, pane))?.pid;
		const nodes = tree === undefined ? [] : [describe(tree, agentPid)];
		const hasAgent = tree !== undefined && [...walkTree(tree)].some((node) => classOf(node, agentPid) === "agent");
		if (line.has("json")) {
			world.print(JSON.stringify({ pane: pane.id, pane_pid: pane.pid, processes: nodes, has_agent: hasAgent }));
			return 0;
		}
		const rows = tree === undefined ? [] : drawTree(tree, agentPid, 0);
		const found = hasAgent ? ["", "Agent process detected."] : [];
		world.print([`Pane ${pane.id} (PID ${pane.pid})`, ...rows, ...found].join("\n"));
		return 0;
	},
};

interface DescribedProcess {
	readonly pid: number;
	readonly ppid: number;
	readonly comm: string;
	readonly cmdline: string;
	readonly classification: string;
	readonly children: readonly DescribedProcess[];
}

function describe(node: ProcessNode, agentPid: number | undefined): DescribedProcess {
	return {
		...{ pid: node.pid, ppid: node.ppid, comm: node.comm, cmdline: node.cmdline },
		classification: classOf(node, agentPid),
		children: node.children.map((child) => describe(child, agentPid)),
	};
}

function classOf(node: ProcessNode, agentPid: number | undefined): string {
	return node.pid === agentPid ? "agent" : classifyProcess(node);
}

function drawTree(node: ProcessNode, agentPid: number | undefined, depth: number): string[] {
	const name = classOf(node, agentPid);
	const tag = name === "other" ? "" : ` [${name}]`;
	const row = `${"  ".repeat(depth + 1)}${node.pid} ${node.comm}${tag}`;
	return [row, ...node.children.flatMap((child) => drawTree(child, agentPid, depth + 1))];
}

function drawTable(rows: readonly MapRow[]): string {
	const agentOf = (row: MapRow) => {
		if (row.agent_state === null) return "—";
		return row.agent_state_duration === null ? row.agent_state : `${row.agent_state} (${row.agent_state_duration})`;
	};
	const head = ["SESSION", "WINDOW", "PANE", "ACTIVE", "AGENT", "COMMAND", "CWD"];
	const cells = rows.map((row) => [
		...[row.session, `${row.window_index}:${row.window_name}`, row.pane],
		...[row.pane_active && row.window_active ? "*" : "", agentOf(row), row.command, row.cwd],
	]);
	const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
	return [head, ...cells]
		.map((row) =>
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}

function countOf(text: string, command: Command): number {
	const value = Number(text);
	if (!Number.isInteger(value) || value < 1)
		throw usage(command.spec, `the number of rows must be at least 1, not "${text}"`);
	return value;
}
