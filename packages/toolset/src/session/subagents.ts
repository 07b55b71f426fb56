import { randomUUID } from "node:crypto";
import type { ExecutionEnvironment } from "../environment/environment.ts";
import { isInside } from "../tools/paths.ts";
import { type CodingTool, defineTool, ToolFailure } from "../tools/tool.ts";
import type { RunEnd, SessionEvent } from "./events.ts";

/** The part of a session that a parent drives. */
export interface ChildSession {
	submit(text: string): Promise<RunEnd>;
	steer(text: string): void;
	close(): Promise<void>;
	/** Model replies so far. */
	readonly turns: number;
	/** The text of the last reply; empty before the first. */
	readonly lastText: string;
}

/** What a child is started with. */
export interface ChildRequest {
	environment: ExecutionEnvironment;
	model: string | undefined;
	maxTurns: number;
	/** Takes the child's events. */
	listener(event: SessionEvent): void;
}

/** What subagents need of their parent. */
export interface SubagentHost {
	environment: ExecutionEnvironment;
	startChild(request: ChildRequest): Promise<ChildSession>;
	emit(event: SessionEvent): void;
}

const defaultTurns = 50;
/** Each child costs money of its own; a reply with many calls must not start a crowd. */
const mostAtOnce = 8;
const mostInAll = 64;

interface Child {
	session: ChildSession;
	/** Settles when the child has nothing more to do. */
	end: Promise<RunEnd>;
	status: "running" | "completed" | "failed" | "closed";
}

const deltas: ReadonlySet<SessionEvent["type"]> = new Set([
	"message_update",
	"tool_execution_update",
	"session_start",
	"session_end",
]);

/** The children of a session and the four tools by which the model drives them. */
export class Subagents {
	readonly #host: SubagentHost;
	readonly #children = new Map<string, Child>();
	#starting = 0;

	constructor(host: SubagentHost) {
		this.#host = host;
	}

	/** Closes every child. */
	async closeAll(): Promise<void> {
		await Promise.all([...this.#children.values()].map((child) => child.session.close()));
	}

	/** The tools, in a fixed order. */
	createTools(): CodingTool[] {
		return [this.#createSpawn(), this.#createSend(), this.#createWait(), this.#createClose()];
	}

	async #chooseEnvironment(folder: string | undefined): Promise<ExecutionEnvironment> {
		const { environment } = this.#host;
		if (folder === undefined) return environment;
		const [base, path] = await Promise.all([environment.resolvePath("."), environment.resolvePath(folder)]);
		if (!isInside(base, path)) {
			throw new ToolFailure(`working_dir ${folder} is outside of the working directory.`);
		}
		if ((await environment.stat(path))?.kind !== "directory") throw new ToolFailure(`${folder} is not a directory.`);
		return environment.at(path);
	}

	#checkRoom(): void {
		const children = [...this.#children.values()];
		if (children.length + this.#starting >= mostInAll) {
			throw new ToolFailure(`All ${mostInAll} agents that a session may start were started. Do the rest yourself.`);
		}
		if (children.filter(({ status }) => status === "running").length + this.#starting >= mostAtOnce) {
			throw new ToolFailure(`${mostAtOnce} agents are running, which is the limit. Wait for one of them first.`);
		}
	}

	/** Starts a child; the calls of one reply come at the same time, so each counts from its beginning on. */
	async #spawn(task: string, folder: string | undefined, model: string | undefined, maxTurns: number): Promise<string> {
		this.#checkRoom();
		this.#starting++;
		try {
			return await this.#start(task, folder, model, maxTurns);
		} finally {
			this.#starting--;
		}
	}

	async #start(task: string, folder: string | undefined, model: string | undefined, maxTurns: number): Promise<string> {
		const agentId = randomUUID().slice(0, 8);
		const environment = await this.#chooseEnvironment(folder);
		const session = await this.#host.startChild({
			environment,
			model,
			maxTurns,
			listener: (event) => {
				if (!deltas.has(event.type)) this.#host.emit({ type: "subagent_event", agentId, event });
			},
		});
		this.#host.emit({ type: "subagent", agentId, phase: "spawned" });
		const end = session.submit(task).catch((error: unknown) => ({ reason: "error" as const, error: String(error) }));
		const child: Child = { session, end, status: "running" };
		this.#children.set(agentId, child);
		void end.then(({ reason }) => {
			if (child.status !== "running") return;
			child.status = reason === "stop" ? "completed" : "failed";
			this.#host.emit({ type: "subagent", agentId, phase: child.status });
		});
		return agentId;
	}

	#find(agentId: string): Child {
		const child = this.#children.get(agentId);
		if (!child) throw new ToolFailure(`No agent has the id ${agentId}.`);
		return child;
	}

	#createSpawn(): CodingTool {
		return defineTool<{ task: string; working_dir?: string; model?: string; max_turns?: number }>({
			name: "spawn_agent",
			label: "spawn_agent",
			toolClass: "subagent",
			description:
				"Starts another agent that carries out a task on its own, and answers with its id at once. It sees nothing of this conversation, so the task has to say everything. Collect its result with wait.",
			properties: {
				task: { type: "string", description: "What the agent shall do and report." },
				working_dir: { type: "string", description: "A folder inside of the working directory to work in." },
				model: { type: "string", description: "Another model of the same provider." },
				max_turns: { type: "integer", description: `Most model replies. Default: ${defaultTurns}.` },
			},
			required: ["task"],
			describeCall: ({ task }) => (typeof task === "string" ? task : ""),
			run: async ({ task, working_dir, model, max_turns }) => {
				const maxTurns = max_turns !== undefined && max_turns >= 1 ? max_turns : defaultTurns;
				const agentId = await this.#spawn(task, working_dir, model, maxTurns);
				return { text: JSON.stringify({ agent_id: agentId, status: "running" }) };
			},
		});
	}

	#createSend(): CodingTool {
		return defineTool<{ agent_id: string; message: string }>({
			name: "send_input",
			label: "send_input",
			toolClass: "subagent",
			description: "Gives a running agent a further message, which it reads before its next step.",
			properties: { agent_id: { type: "string" }, message: { type: "string" } },
			required: ["agent_id", "message"],
			describeCall: ({ message }) => (typeof message === "string" ? message : ""),
			run: async ({ agent_id, message }) => {
				const child = this.#find(agent_id);
				if (child.status !== "running") throw new ToolFailure(`The agent ${agent_id} is ${child.status}.`);
				child.session.steer(message);
				return { text: JSON.stringify({ agent_id, status: "running" }) };
			},
		});
	}

	#createWait(): CodingTool {
		return defineTool<{ agent_id: string }>({
			name: "wait",
			label: "wait",
			toolClass: "subagent",
			description: "Waits until an agent has finished and gives its result.",
			properties: { agent_id: { type: "string" } },
			required: ["agent_id"],
			describeCall: ({ agent_id }) => (typeof agent_id === "string" ? agent_id : ""),
			run: async ({ agent_id }, { signal }) => {
				const child = this.#find(agent_id);
				const end = await Promise.race([child.end, aborted(signal)]);
				const result = {
					agent_id,
					status: child.status,
					success: end.reason === "stop",
					turns: child.session.turns,
					output: child.session.lastText,
					...(end.reason === "stop" ? {} : { reason: end.error ?? end.reason }),
				};
				return { text: JSON.stringify(result), isError: end.reason !== "stop" };
			},
		});
	}

	#createClose(): CodingTool {
		return defineTool<{ agent_id: string }>({
			name: "close_agent",
			label: "close_agent",
			toolClass: "subagent",
			description: "Ends an agent, also in the middle of its work.",
			properties: { agent_id: { type: "string" } },
			required: ["agent_id"],
			describeCall: ({ agent_id }) => (typeof agent_id === "string" ? agent_id : ""),
			run: async ({ agent_id }) => {
				const child = this.#find(agent_id);
				if (child.status === "closed") throw new ToolFailure(`The agent ${agent_id} is closed already.`);
				const final = child.status === "running" ? "aborted" : child.status;
				child.status = "closed";
				await child.session.close();
				this.#host.emit({ type: "subagent", agentId: agent_id, phase: "closed" });
				return { text: JSON.stringify({ agent_id, status: final, turns: child.session.turns }) };
			},
		});
	}
}

function aborted(signal: AbortSignal): Promise<never> {
	return new Promise((_resolve, reject) => {
		const fail = () => reject(new ToolFailure("aborted"));
		if (signal.aborted) fail();
		signal.addEventListener("abort", fail, { once: true });
	});
}
