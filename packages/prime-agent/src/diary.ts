import { join } from "node:path";
import { createRedactor } from "@prime-agent/loop";
import { setIgnoreSink } from "./lib/ignore.ts";
import { openLogFile } from "./platform/log-file.ts";
import { agentFolder, type Environment } from "./platform/paths.ts";

/** What the program writes down about its own failures, freed of credentials. */
export interface Diary {
	/** Keeps a credential out of everything that is written from now on. */
	learn(secret: string): void;
	/** Writes down a failure that should not have happened. Never throws. */
	recordFault(during: string, error: unknown): void;
	/** The file, once a failure is in it. */
	faultFile(): string | undefined;
}

/** Opens the log of this process, `logs/agent.jsonl` of the agent folder; the file is made with its first line. */
export function openDiary(env: Environment): Diary {
	const redactor = createRedactor();
	const log = openLogFile(join(agentFolder(env), "logs", "agent.jsonl"), redactor.text);
	let hasFaults = false;
	if (env.PRIME_AGENT_DEBUG) {
		setIgnoreSink((error, why) => {
			log.write({ level: "debug", event: "ignored", why, error: describeError(error) });
		});
	}
	return {
		learn: redactor.learn,
		recordFault(during, error) {
			hasFaults = log.write({ level: "error", event: "fault", during, error: describeError(error) }) || hasFaults;
		},
		faultFile: () => (hasFaults ? log.path : undefined),
	};
}

/** An error with everything that helps to find it; a chain of causes ends after a few. */
function describeError(error: unknown, depth = 0): unknown {
	if (!(error instanceof Error)) return String(error);
	const { code } = error as { code?: unknown };
	return {
		name: error.name,
		message: error.message,
		...(typeof code === "string" ? { code } : {}),
		stack: error.stack,
		...(error.cause === undefined || depth > 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
	};
}
