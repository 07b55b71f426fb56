import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
	type LiveProcess,
	type ModelServer,
	type RecordedRequest,
	reply,
	runProcess,
	type Step,
	startChatServer,
	startProcess,
	type TempHome,
	tempHome,
	waitFor,
} from "@prime-agent/testkit";

const MAIN = resolve(import.meta.dirname, "../../packages/prime-agent/src/main.ts");
/** Kills in a row on one session before a fresh one is taken. */
const CHAIN = 10;
/** Tool rounds of each prompt. */
const ROUNDS = 3;

/** Where a kill was meant to land. */
export type Target = "stream" | "cell" | "write" | "anywhere";

/** What many kills gave. */
export interface KillReport {
	readonly landed: Readonly<Record<Target | "after the end", number>>;
	/** Every broken promise, with the number of its round. Empty is good. */
	readonly faults: readonly string[];
}

/** Kills the program with SIGKILL at chosen and at random moments and looks at what is left each time. */
export async function runKills(options: {
	readonly kills: number;
	readonly seed: number;
	readonly onKill?: (done: number, target: string) => void;
}): Promise<KillReport> {
	const random = createRandom(options.seed);
	const landed = { stream: 0, cell: 0, write: 0, anywhere: 0, "after the end": 0 };
	const faults: string[] = [];
	for (let done = 0; done < options.kills; ) {
		const chain = await openChain();
		try {
			for (let link = 0; link < CHAIN && done < options.kills; link++) {
				const target = pickTarget(random);
				const hit = await killOnce(chain, { number: done, target, random });
				landed[hit ? target : "after the end"]++;
				done++;
				faults.push(...chain.faults.splice(0).map((fault) => `kill ${done} (${target}): ${fault}`));
				options.onKill?.(done, target);
			}
			faults.push(...(await finishChain(chain)).map((fault) => `after kill ${done}: ${fault}`));
		} finally {
			await chain.close();
		}
	}
	return { landed, faults };
}

interface Chain {
	readonly home: TempHome;
	readonly server: ModelServer;
	readonly cwd: string;
	readonly sessions: string;
	/** Marks that cells left, one per line. */
	readonly ranFile: string;
	/** Messages that the program reported as ended. */
	readonly acknowledged: string[];
	/** Cells whose call never arrived whole. */
	readonly cutCells: Set<string>;
	readonly faults: string[];
	/** What the model answers now. */
	answer: (request: RecordedRequest) => Step;
	close(): Promise<void>;
}

async function openChain(): Promise<Chain> {
	const home = await tempHome();
	const server = await startChatServer();
	const cwd = join(home.path, "work");
	const agentFolder = join(home.path, ".prime", "agent");
	mkdirSync(cwd);
	mkdirSync(agentFolder, { recursive: true });
	const provider = { baseUrl: server.baseUrl, api: "openai-completions", models: [{ id: "mock" }] };
	writeFileSync(join(agentFolder, "models.json"), JSON.stringify({ providers: { mock: provider } }));
	return {
		home,
		server,
		cwd,
		sessions: join(agentFolder, "sessions"),
		ranFile: join(home.path, "ran.txt"),
		acknowledged: [],
		cutCells: new Set(),
		faults: [],
		answer: () => reply({ text: "unexpected" }),
		async close() {
			await server.close();
			await home.dispose();
		},
	};
}

interface Shot {
	readonly number: number;
	readonly target: Target;
	readonly random: () => number;
}

/** One run that is killed; false when it ended before the moment came. */
async function killOnce(chain: Chain, shot: Shot): Promise<boolean> {
	const aim = Math.floor(shot.random() * ROUNDS);
	const events = 2 + Math.floor(shot.random() * 6);
	const marker = join(chain.home.path, `in-cell-${shot.number}`);
	chain.answer = (request) => {
		const round = toolRounds(request);
		if (round >= ROUNDS) return reply({ text: "done" });
		const id = `${shot.number}-${round}`;
		const isAim = round === aim;
		if (isAim && shot.target === "stream") {
			chain.cutCells.add(id);
			return reply({ text: "Thinking aloud.", calls: [cell(chain, id)], chunk: 4, silence: { afterEvents: events } });
		}
		const wait =
			isAim && shot.target === "cell"
				? `open(${JSON.stringify(marker)}, "w").close()\nimport time; time.sleep(600)`
				: "";
		return reply({ text: `Round ${round}.`, calls: [cell(chain, id, wait)] });
	};
	chain.server.script(...Array.from({ length: ROUNDS + 2 }, () => (request: RecordedRequest) => chain.answer(request)));
	const before = chain.server.requests.length;
	const live = startProgram(chain, shot.number);
	const ended = live.done.then(() => false);
	const hit = await Promise.race([ended, aimAt(chain, live, shot, { aim, marker, before })]);
	live.kill("SIGKILL", "process");
	await live.done;
	readAcknowledged(chain, live.stdout);
	await inspect(chain);
	return hit;
}

function startProgram(chain: Chain, number: number): LiveProcess {
	const goesOn = existsSync(chain.sessions) && readdirSync(chain.sessions).some((name) => name.endsWith(".jsonl"));
	const argv = ["--mode", "json", "--model", "mock/mock", ...(goesOn ? ["--continue"] : []), "-p", `prompt ${number}`];
	return startProcess(process.execPath, [MAIN, ...argv], {
		cwd: chain.cwd,
		env: chain.home.env,
		input: "",
		timeoutMs: 120_000,
	});
}

/** Resolves at the moment of the kill. */
async function aimAt(
	chain: Chain,
	live: LiveProcess,
	shot: Shot,
	plan: { readonly aim: number; readonly marker: string; readonly before: number },
): Promise<boolean> {
	switch (shot.target) {
		case "stream": {
			await chain.server.waitForRequests(plan.before + plan.aim + 1, 60_000);
			const replies = plan.aim + 1;
			await waitFor(
				() => count(live.stdout, '{"type":"message_start","message":{"role":"assistant"') >= replies,
				"the reply to begin",
				60_000,
			);
			return true;
		}
		case "cell":
			await waitFor(() => existsSync(plan.marker), "the cell to run", 60_000);
			return true;
		case "write":
			await nthWrite(chain.sessions, 1 + Math.floor(shot.random() * (2 + 2 * ROUNDS)));
			return true;
		case "anywhere":
			await new Promise((resolve) => setTimeout(resolve, shot.random() * 1200));
			return true;
	}
}

/** Resolves when the folder's files were written to n times: the data is written and not yet synced. */
function nthWrite(folder: string, n: number): Promise<void> {
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	return new Promise((resolve) => {
		let seen = 0;
		const watcher = watch(folder, (event) => {
			if (event !== "change" || ++seen < n) return;
			watcher.close();
			resolve();
		});
		watcher.unref();
	});
}

function cell(chain: Chain, id: string, then = "") {
	const code = `with open(${JSON.stringify(chain.ranFile)}, "a") as f: f.write("${id}\\n")\n${then}\n"${id}"`;
	return { name: "ipython", arguments: { code } };
}

function readAcknowledged(chain: Chain, stdout: string): void {
	const complete = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
	for (const line of complete.split("\n")) {
		if (!line.startsWith('{"type":"message_end"')) continue;
		chain.acknowledged.push(JSON.stringify((JSON.parse(line) as { message: object }).message));
	}
}

/** What must hold after any kill. */
async function inspect(chain: Chain): Promise<void> {
	const files = existsSync(chain.sessions) ? readdirSync(chain.sessions).filter((name) => name.endsWith(".jsonl")) : [];
	const kept = new Set(files.flatMap((name) => readMessages(join(chain.sessions, name))));
	for (const message of chain.acknowledged) {
		if (!kept.has(message)) chain.faults.push(`an acknowledged message is lost: ${message.slice(0, 200)}`);
	}
	const ran = existsSync(chain.ranFile) ? readFileSync(chain.ranFile, "utf8").trimEnd().split("\n") : [];
	if (new Set(ran).size < ran.length) chain.faults.push("a cell ran twice");
	for (const id of ran) if (chain.cutCells.has(id)) chain.faults.push(`cell ${id} ran from a call that was cut`);
	for (const { rule, message } of chain.server.rejections) chain.faults.push(`the server refused: ${rule}: ${message}`);
	try {
		await waitFor(() => leftProcesses(chain.home.path).length === 0, "every process to end", 30_000);
	} catch {
		chain.faults.push(`processes were left behind: ${leftProcesses(chain.home.path).join(", ")}`);
	}
}

/** The session must go on to an answer, whatever happened to it. */
async function finishChain(chain: Chain): Promise<string[]> {
	chain.answer = () => reply({ text: "all is well" });
	chain.server.script((request) => chain.answer(request));
	const argv = ["--model", "mock/mock", "--continue", "-p", "still there?"];
	const { code, stdout, stderr } = await runProcess(process.execPath, [MAIN, ...argv], {
		cwd: chain.cwd,
		env: chain.home.env,
		timeoutMs: 60_000,
	});
	await inspect(chain);
	const opened = code === 0 && stdout === "all is well\n";
	return [...chain.faults.splice(0), ...(opened ? [] : [`the session did not go on: exit ${code}, ${stderr}`])];
}

function readMessages(file: string): string[] {
	return readFileSync(file, "utf8")
		.split("\n")
		.flatMap((line) => {
			if (!line.startsWith('{"type":"message"') || !line.endsWith("}")) return [];
			return [JSON.stringify((JSON.parse(line) as { message: object }).message)];
		});
}

/** Tool results since the last thing that was said. */
function toolRounds(request: RecordedRequest): number {
	const { messages } = request.body as { messages: { role: string }[] };
	return messages.slice(messages.findLastIndex((message) => message.role === "user")).filter((m) => m.role === "tool")
		.length;
}

/** Processes whose environment names the folder: everything that the program started. */
function leftProcesses(folder: string): string[] {
	return readdirSync("/proc").flatMap((pid) => {
		if (!/^\d+$/.test(pid)) return [];
		try {
			const belongs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder);
			return belongs ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`] : [];
		} catch {
			// It ended while we looked, or it is somebody else's.
			return [];
		}
	});
}

function pickTarget(random: () => number): Target {
	const dice = random();
	if (dice < 0.35) return "stream";
	if (dice < 0.65) return "cell";
	return dice < 0.9 ? "write" : "anywhere";
}

function count(text: string, part: string): number {
	return text.split(part).length - 1;
}

function createRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}
