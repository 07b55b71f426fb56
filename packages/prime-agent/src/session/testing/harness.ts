import { type ModelStep, type ScriptedModel, scriptedModel } from "@prime-agent/testkit";
import type { SessionHeader } from "../../protocol/entry.ts";
import type { SessionEvent } from "../../protocol/event.ts";
import { sendPrompt } from "../../protocol/session-operations.ts";
import type { AnyFeature } from "../host.ts";
import { SessionLog } from "../log.ts";
import { CLOCK, type ClockPort, MODEL, type ModelPort, type PortToken, SETTINGS, type SettingsPort } from "../ports.ts";
import { Session, type SessionParts } from "../session.ts";
import { createMemoryStore } from "../storage/memory.ts";
import type { SessionStore } from "../storage.ts";

/** A header as tests need one. */
export const HEADER: SessionHeader = {
	type: "session",
	version: 3,
	id: "0190a0b0-0000-7000-8000-000000000001",
	timestamp: "2026-01-02T03:04:05.000Z",
	cwd: "/home/user/project",
	rlmDepth: 0,
};

/** A session with a scripted model, in memory unless told otherwise. */
export interface Bench {
	readonly session: Session;
	readonly log: SessionLog;
	readonly model: ScriptedModel;
	readonly events: SessionEvent[];
	/** Says something and waits for the end of its run. */
	say(text: string): Promise<{ stage: string; error?: string }>;
	/** Roles and first texts of the branch's messages, for comparing whole. */
	spoken(): string[];
}

/** What a test may want differently. */
export interface BenchOptions {
	readonly features?: readonly AnyFeature[];
	readonly steps?: readonly ModelStep[];
	readonly store?: SessionStore;
	readonly log?: SessionLog;
	readonly ports?: readonly (readonly [PortToken<unknown>, unknown])[];
	readonly clock?: ClockPort;
	readonly onFault?: SessionParts["onFault"];
	/** By dotted path. */
	readonly settings?: Readonly<Record<string, unknown>>;
}

/** Builds a session for a test. */
export function openBench(options: BenchOptions = {}): Bench {
	const log = options.log ?? SessionLog.create(HEADER, options.store ?? createMemoryStore());
	const model = scriptedModel(options.steps ?? []);
	const clock = options.clock ?? { now: () => 0, sleep: () => Promise.resolve() };
	const ports = new Map<string, unknown>([[CLOCK.name, clock]]);
	ports.set(MODEL.name, { current: () => model.model, stream: model.streamFn } satisfies ModelPort);
	ports.set(SETTINGS.name, { get: (path) => options.settings?.[path] } satisfies SettingsPort);
	for (const [token, port] of options.ports ?? []) ports.set(token.name, port);
	const session = new Session({
		log,
		features: options.features ?? [],
		ports,
		streamFn: model.streamFn,
		model: model.model,
		thinkingLevel: "off",
		tools: "all",
		writePrompt: (parts) => parts.map((part) => part.text).join("\n"),
		release: () => Promise.resolve(),
		onFault: options.onFault,
	});
	const events: SessionEvent[] = [];
	session.subscribe((event) => events.push(event));
	return {
		session,
		log,
		model,
		events,
		say: async (text) =>
			(await session.call(sendPrompt.name, { text, until: "done" }, "client")) as { stage: string; error?: string },
		spoken: () => log.branch(new Set(["message", "custom_message"])).map(describeEntry),
	};
}

function describeEntry(entry: Readonly<Record<string, unknown>>): string {
	if (entry.type === "custom_message") return `${entry.customType}: ${String(entry.content).slice(0, 40)}`;
	const message = entry.message as { role: string; content: string | { type: string; text?: string; name?: string }[] };
	if (typeof message.content === "string") return `${message.role}: ${message.content}`;
	const parts = message.content.map((block) => block.text ?? block.name ?? block.type);
	return `${message.role}: ${parts.join(" + ")}`;
}
