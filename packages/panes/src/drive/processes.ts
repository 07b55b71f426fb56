import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { findCliByProcess } from "../clis/index.ts";
import { ignore } from "../ignore.ts";

/** What a process is, as far as its name and command line tell. */
export type ProcessClass = "agent" | "node" | "git" | "other";

/** One process of a pane with those it started. */
export interface ProcessNode {
	readonly pid: number;
	readonly ppid: number;
	/** Name as the kernel reports it; Linux cuts it at 15 bytes. */
	readonly comm: string;
	/** Whole command line with blanks between the arguments; empty when it cannot be read. */
	readonly cmdline: string;
	/** Whether it belongs to the foreground group of its terminal. */
	readonly isForeground: boolean;
	readonly children: readonly ProcessNode[];
}

const SHELLS = new Set(["bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh"]);
const SCRIPT_HOSTS = new Set(["node", "bun", "deno", "python", "python3"]);

/** Whether a process name is that of a shell; login shells carry a leading dash. */
export function isShell(name: string): boolean {
	return SHELLS.has(basename(name).replace(/^-/, ""));
}

/** The tree of processes below a pid; undefined when the process is gone. */
export async function readProcessTree(pid: number): Promise<ProcessNode | undefined> {
	return process.platform === "linux" ? readLinuxTree(pid) : readPsTree(pid);
}

/** All nodes of a tree, the root first. */
export function* walkTree(node: ProcessNode): Generator<ProcessNode> {
	yield node;
	for (const child of node.children) yield* walkTree(child);
}

/** Name of the agent CLI that a process runs, directly or as the script of node, bun or python; else undefined. */
export function findAgent(node: Pick<ProcessNode, "comm" | "cmdline">): string | undefined {
	const direct = findCliByProcess(node.comm);
	if (direct !== undefined) return direct.name;
	const words = node.cmdline.split(" ").filter((word) => word !== "");
	// A program may rename its process, so the first word counts as well as the kernel's name.
	if (!SCRIPT_HOSTS.has(basename(node.comm)) && !SCRIPT_HOSTS.has(basename(words[0] ?? ""))) return undefined;
	const script = words.slice(1).find((word) => !word.startsWith("-"));
	return script === undefined ? undefined : findCliByProcess(basename(script).replace(/\.[cm]?[jt]s$|\.py$/, ""))?.name;
}

/** The class of one process. */
export function classifyProcess(node: Pick<ProcessNode, "comm" | "cmdline">): ProcessClass {
	if (findAgent(node) !== undefined) return "agent";
	const name = basename(node.comm);
	if (name === "node") return "node";
	return name === "git" || name === "gh" ? "git" : "other";
}

/** One process without those it started. */
export interface ProcessFacts {
	readonly comm: string;
	readonly ppid: number;
	/** Ended, but not yet collected by its parent. */
	readonly isZombie: boolean;
}

/** Name and parent of a process; undefined when it is gone. */
export async function readParent(pid: number): Promise<ProcessFacts | undefined> {
	if (process.platform === "linux") {
		const stat = readText(`/proc/${pid}/stat`);
		if (stat === undefined) return undefined;
		const end = stat.lastIndexOf(")");
		const [state, ppid] = stat.slice(end + 2).split(" ");
		return { comm: stat.slice(stat.indexOf("(") + 1, end), ppid: Number(ppid), isZombie: state === "Z" };
	}
	const rows = await runPs("pid=,ppid=,stat=,comm=");
	const row = rows
		.map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
		.find((match) => Number(match?.[1]) === pid);
	if (!row) return undefined;
	return { comm: basename(row[4] ?? ""), ppid: Number(row[2]), isZombie: (row[3] ?? "").startsWith("Z") };
}

/** Whether a process exists; one of another user counts as alive. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

function readLinuxTree(pid: number): ProcessNode | undefined {
	const stat = readText(`/proc/${pid}/stat`);
	if (stat === undefined) return undefined;
	// The name stands in parentheses and may itself hold blanks and parentheses.
	const end = stat.lastIndexOf(")");
	const comm = stat.slice(stat.indexOf("(") + 1, end);
	const [, ppid, pgrp, , , tpgid] = stat.slice(end + 2).split(" ");
	const cmdline = (readText(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trimEnd();
	const children: ProcessNode[] = [];
	for (const thread of listFolder(`/proc/${pid}/task`)) {
		for (const child of (readText(`/proc/${pid}/task/${thread}/children`) ?? "").split(" ")) {
			const node = child.trim() === "" ? undefined : readLinuxTree(Number(child));
			if (node !== undefined) children.push(node);
		}
	}
	return { pid, ppid: Number(ppid), comm, cmdline, isForeground: pgrp === tpgid, children };
}

async function readPsTree(pid: number): Promise<ProcessNode | undefined> {
	const [names, lines] = await Promise.all([runPs("pid=,ppid=,stat=,comm="), runPs("pid=,args=")]);
	const cmdlines = new Map<number, string>();
	for (const line of lines) {
		const match = /^\s*(\d+)\s+(.*)$/.exec(line);
		if (match) cmdlines.set(Number(match[1]), match[2] ?? "");
	}
	const rows = names.flatMap((line) => {
		const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
		return match ? [{ pid: Number(match[1]), ppid: Number(match[2]), stat: match[3] ?? "", comm: match[4] ?? "" }] : [];
	});
	const build = (row: (typeof rows)[number]): ProcessNode => ({
		pid: row.pid,
		ppid: row.ppid,
		comm: basename(row.comm),
		cmdline: cmdlines.get(row.pid) ?? "",
		isForeground: row.stat.includes("+"),
		children: rows.filter((child) => child.ppid === row.pid).map(build),
	});
	const root = rows.find((row) => row.pid === pid);
	return root === undefined ? undefined : build(root);
}

function runPs(format: string): Promise<string[]> {
	return new Promise((resolve, reject) => {
		execFile("ps", ["-axo", format], { timeout: 5000, maxBuffer: 16e6 }, (error, stdout) => {
			if (error) reject(error);
			else resolve(stdout.split("\n"));
		});
	});
}

/** A process may vanish between two reads; then there is nothing to tell about it. */
function readText(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		return ignore(error, "the process has ended meanwhile");
	}
}

function listFolder(path: string): string[] {
	try {
		return readdirSync(path);
	} catch (error) {
		return ignore(error, "the process has ended meanwhile") ?? [];
	}
}
