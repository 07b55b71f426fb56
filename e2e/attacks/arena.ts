import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
	type LiveProcess,
	type ModelServer,
	type RecordedRequest,
	reply,
	startChatServer,
	startProcess,
	type TempHome,
	tempHome,
	waitFor,
} from "@prime-agent/testkit";
import type { Attack } from "./attack.ts";

const MAIN = resolve(import.meta.dirname, "../../packages/prime-agent/src/main.ts");
/** Planted in the environment of the program; no cell may find it. Attacks write it in two halves. */
const CANARY = "canary-8f2e61b0";
const HOST_MB = 300;
const KERNEL_MB = 300;
/** No attack takes as long as this; one that does has hung something. */
const GUARD_MS = 400_000;

/** Which kernel serves. */
export type Backend = "builtin" | "ipykernel";

/** What one attack did. */
export interface Outcome {
	/** Everything that did not hold. Empty is good. */
	readonly faults: readonly string[];
	/** Peak memory of the program in MB. */
	readonly hostMb: number;
	/** What the model read of each cell. */
	readonly results: readonly string[];
}

/** Runs an attack through the real program, whose mock model sends the cells, and looks at everything it left. */
export async function runAttack(attack: Attack, backend: Backend): Promise<Outcome> {
	const home = await tempHome();
	const server = await startChatServer();
	try {
		return await fight({ attack, backend, home, server });
	} finally {
		await server.close();
		await home.dispose();
	}
}

/** False where the program finds no Python that has the back end. */
export async function canServe(backend: Backend): Promise<boolean> {
	const { results } = await runAttack({ name: "nothing", cells: [] }, backend);
	return !results[0]?.includes("cannot start");
}

interface Fight {
	readonly attack: Attack;
	readonly backend: Backend;
	readonly home: TempHome;
	readonly server: ModelServer;
}

/**
 * The first cell and the last ones: is it the same process, and how many MB did it take? What still floods the output may
 * stand around the answer.
 */
const WHO = "'process %d' % __import__('os').getpid()";
const SIZE = "'size %d' % (int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) // 1024)";

async function fight({ attack, backend, home, server }: Fight): Promise<Outcome> {
	const cells = [WHO, ...attack.cells, WHO, SIZE];
	const seen: number[] = [];
	const answer = (_request: RecordedRequest, position: number) => {
		seen.push(peakMb(live.pid));
		const code = cells[position];
		if (code === undefined) return reply({ text: "it stands" });
		return reply({ calls: [{ id: `cell-${position}`, name: "ipython", arguments: { code } }], chunk: 1 << 20 });
	};
	server.script(...[...cells, ""].map((_, position) => (request: RecordedRequest) => answer(request, position)));
	const live = start(home, server, attack, backend);
	const ended = await live.done;
	const results = readResults(server.modelRequests.at(-1));
	const hostMb = Math.max(...seen, 0);
	const faults = [
		...(ended.timedOut ? ["the program hung"] : []),
		...(ended.code === 0 ? [] : [`exit code ${ended.code} ${ended.signal ?? ""}: ${ended.stderr.slice(-500)}`]),
		...(ended.stdout.includes("it stands") ? [] : ["the run did not reach its end"]),
		...server.rejections.map(({ rule, message }) => `the server refused: ${rule}: ${message}`),
		...(hostMb < HOST_MB ? [] : [`the program took ${hostMb} MB`]),
		...judgeResults(attack, results),
		...findCanary(server, ended.stdout + ended.stderr, home.path),
		...readSessions(home.path),
		...(await findLeftovers(home.path)),
	];
	return { faults, hostMb, results };
}

function start(home: TempHome, server: ModelServer, attack: Attack, backend: Backend): LiveProcess {
	const cwd = join(home.path, "work");
	const tmp = join(home.path, "tmp");
	const agentFolder = join(home.path, ".prime", "agent");
	for (const folder of [cwd, tmp, agentFolder]) mkdirSync(folder, { recursive: true, mode: 0o700 });
	const provider = { baseUrl: server.baseUrl, api: "openai-completions", models: [{ id: "mock" }] };
	writeFileSync(join(agentFolder, "models.json"), JSON.stringify({ providers: { mock: provider } }));
	const kernel = { cellTimeoutMs: attack.limitMs ?? GUARD_MS };
	writeFileSync(join(agentFolder, "settings.json"), JSON.stringify({ kernel }));
	const python = process.env.PRIME_AGENT_TEST_PYTHON;
	return startProcess(process.execPath, [MAIN, "--mode", "json", "--model", "mock/mock", "-p", "go"], {
		cwd,
		env: {
			...home.env,
			TMPDIR: tmp,
			ACME_API_KEY: CANARY,
			PRIME_AGENT_KERNEL: backend,
			...(python ? { PRIME_AGENT_KERNEL_PYTHON: python } : {}),
		},
		input: "",
		timeoutMs: GUARD_MS,
	});
}

/** What the model read of each cell. */
function readResults(request: RecordedRequest | undefined): string[] {
	const { messages = [] } = (request?.body ?? {}) as { messages?: { role: string; content: unknown }[] };
	return messages
		.filter((message) => message.role === "tool")
		.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
}

function judgeResults(attack: Attack, results: readonly string[]): string[] {
	const [first = "", ...rest] = results;
	const size = rest.pop() ?? "";
	const last = rest.pop() ?? "";
	const faults: string[] = [];
	const answered = /'process \d+'/.exec(last);
	if (!/^'process \d+'\s*$/.test(first)) faults.push(`the first cell gave ${quote(first)}`);
	if (!answered) faults.push(`the cell after the attack gave ${quote(last)}`);
	else if (!attack.mayKill && answered[0] !== first.trim()) faults.push(`the kernel was lost: ${quote(last)}`);
	const megabytes = Number(/'size (\d+)'/.exec(size)?.[1]);
	if (attack.kernelMb !== false && !(megabytes < (attack.kernelMb ?? KERNEL_MB))) {
		faults.push(`the kernel took ${quote(size)} MB`);
	}
	const all = rest.join("\n");
	if (attack.says && !attack.says.test(all)) faults.push(`the model did not read ${attack.says}: ${quote(all)}`);
	if (attack.never?.test(all)) faults.push(`the model read ${attack.never}: ${quote(all)}`);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would obey
	if (/[\u0000-\u0008\u000b-\u001f\u007f\u009b]/.test(all)) faults.push(`control characters: ${quote(all)}`);
	return faults;
}

function quote(text: string): string {
	return JSON.stringify(text.length > 600 ? `${text.slice(0, 300)} ... ${text.slice(-300)}` : text);
}

function peakMb(pid: number): number {
	try {
		return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024);
	} catch {
		// it ended just now
		return 0;
	}
}

/** The places where the planted key was found: requests, what the program said, every file under its home. */
function findCanary(server: ModelServer, said: string, folder: string): string[] {
	const faults: string[] = [];
	if (server.requests.some(({ raw }) => raw.includes(CANARY))) faults.push("the planted key is in a request");
	if (said.includes(CANARY)) faults.push("the planted key is in the output of the program");
	for (const file of listFiles(folder)) {
		const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
		if (size < 64 << 20 && readFileSync(file).includes(CANARY)) faults.push(`the planted key is in ${file}`);
	}
	return faults;
}

function listFiles(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name));
}

/** Each line of each session file has to be whole. */
function readSessions(home: string): string[] {
	const folder = join(home, ".prime", "agent", "sessions");
	const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
	const faults = names.length === 1 ? [] : [`${names.length} session files instead of one`];
	for (const name of names) {
		const text = readFileSync(join(folder, name), "utf8");
		if (!text.endsWith("\n")) faults.push("the session file has a torn line");
		for (const line of text.trimEnd().split("\n")) {
			try {
				JSON.parse(line);
			} catch (error) {
				faults.push(`the session file has a broken line: ${error}`);
			}
		}
	}
	return faults;
}

async function findLeftovers(home: string): Promise<string[]> {
	try {
		await waitFor(() => listProcesses(home).length === 0, "every process to end", 30_000);
	} catch {
		const left = listProcesses(home);
		for (const { pid } of left) process.kill(pid, "SIGKILL");
		return [`left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`];
	}
	const tmp = join(home, "tmp");
	const folders = existsSync(tmp) ? readdirSync(tmp, { recursive: true }).map(String) : [];
	const kept = folders.filter((name) => name.startsWith("prime-agent-"));
	return kept.length > 0 ? [`files were left behind: ${kept.join(", ")}`] : [];
}

/** Processes of this fight: by their environment, or by the folder in which they run. */
function listProcesses(home: string): { pid: number; command: string }[] {
	return readdirSync("/proc").flatMap((name) => {
		if (!/^\d+$/.test(name)) return [];
		try {
			const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
			const environment = readFileSync(`/proc/${name}/environ`, "utf8");
			const where = readlinkSync(`/proc/${name}/cwd`);
			return `${command} ${environment} ${where}`.includes(home) ? [{ pid: Number(name), command }] : [];
		} catch {
			// it ended while we looked
			return [];
		}
	});
}
