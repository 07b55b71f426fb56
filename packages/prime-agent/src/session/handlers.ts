import type { Api, Model } from "@earendil-works/pi-ai";
import { suggest } from "../lib/edit-distance.ts";
import { AgentError } from "../protocol/errors.ts";
import { abortRun, getMessages, getState, sendPrompt } from "../protocol/session-operations.ts";
import type { SharedParts } from "./parts.ts";
import { isRefusal, type Registry } from "./registry.ts";

/** What the session's own operations need. */
export interface HandlerParts extends SharedParts {
	readonly model: Model<Api> | undefined;
	readonly thinkingLevel: string;
	readonly call: (name: string, params: unknown, door: "client") => Promise<unknown>;
}

/** Answers the operations that every session has. */
export function handleSessionOperations(parts: HandlerParts): void {
	const { log, context, gate, queue, registry, operations, runner } = parts;

	operations.handle(sendPrompt, async ({ text, images = [], lane, until = "accepted" }, { signal }) => {
		const passed = await registry.pass("input", { text, images });
		if (isRefusal(passed)) throw new AgentError("refused", passed.refuse);
		const command = parseCommand(passed.text, registry);
		if (command) {
			const result = await parts.call(command.operation, command.params, "client");
			const done = { actionId: 0, stage: "completed" };
			if (until === "accepted" || !runner.isBusy) return { ...done, said: command.say(result) };
			// The command set the agent to work: what it answers counts, and its result is out of date by then.
			await runner.idle();
			return done;
		}
		if (runner.isBusy && lane === undefined) {
			throw new AgentError(
				"busy",
				'The agent is working. Say whether to steer it (lane "steer") or to wait (lane "followUp").',
			);
		}
		const action = queue.add(lane ?? "steer", passed);
		runner.wake();
		if (until === "accepted") return { actionId: action.id, stage: action.stage };
		const outcome = await action.ended;
		signal.throwIfAborted();
		return { actionId: action.id, ...outcome };
	});

	operations.handle(abortRun, () => {
		const restored = queue.cancelWaiting();
		gate.interrupt("aborted");
		return { restored };
	});

	operations.handle(getState, () => ({
		sessionId: log.header.id,
		sessionFile: log.file ?? null,
		cwd: log.header.cwd,
		model: parts.model
			? { provider: parts.model.provider, id: parts.model.id, contextWindow: parts.model.contextWindow }
			: null,
		thinkingLevel: parts.thinkingLevel,
		isStreaming: gate.hasTurn,
		queuedCount: queue.snapshot().queuedCount,
		messageCount: context.messages().length,
	}));

	operations.handle(getMessages, () => ({ messages: context.messages() }));
}

/**
 * What a text that begins with `/` and a name asks for; undefined for a prompt. A slip in a command must not cost a
 * model call. A path is a prompt: it has another slash.
 */
function parseCommand(text: string, registry: Registry) {
	const slash = /^\/([a-z][a-z0-9:-]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
	if (!slash) return undefined;
	const [, name = "", args = ""] = slash;
	const command = registry.commands.get(name);
	if (command) return command.parse(args);
	const known = [...registry.commands.keys()].map((one) => `/${one}`).sort();
	throw new AgentError(
		"not_found",
		`Unknown command "/${name}". ${suggest(`/${name}`, known)}Known commands: ${known.join(", ") || "none"}. To say it to the model, put a word before it.`,
	);
}
