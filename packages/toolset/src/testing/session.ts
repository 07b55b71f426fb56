import type { StreamFn } from "@prime-agent/loop";
import { type ModelStep, reply, scriptedModel } from "@prime-agent/testkit";
import { LocalEnvironment } from "../environment/local.ts";
import type { ProviderName } from "../profiles/models.ts";
import { findProfile } from "../profiles/profile.ts";
import type { SessionEvent } from "../session/events.ts";
import { CodingSession } from "../session/session.ts";
import type { SessionOptions } from "../session/setup.ts";
import { makeFolder, type TestFolder } from "./folder.ts";

/** A session on a scripted model in a temporary folder. */
export interface TestSession extends AsyncDisposable {
	folder: TestFolder;
	environment: LocalEnvironment;
	session: CodingSession;
	model: ReturnType<typeof scriptedModel>;
	/** Everything the session told. */
	events: SessionEvent[];
	/** The text of every message of a request, by role. */
	request(index: number): { role: string; text: string }[];
}

/** One reply with calls, whose ids are made up. */
export function calling(...calls: [name: string, args: object][]): ModelStep {
	return reply({ calls: calls.map(([name, args]) => ({ name, arguments: args })) });
}

/** The text of any message content. */
export function readContent(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Opens a session that gets these answers. */
export async function openTestSession(
	steps: readonly ModelStep[],
	options: Partial<SessionOptions> & { provider?: ProviderName; files?: Record<string, string>; below?: string } = {},
): Promise<TestSession> {
	const { provider = "anthropic", files = {}, below = ".", ...rest } = options;
	const folder = await (await makeFolder()).write(files);
	const model = scriptedModel(steps);
	const events: SessionEvent[] = [];
	const environment = new LocalEnvironment({
		workingDirectory: folder.path,
		variables: { PATH: process.env.PATH },
		killGraceMs: 300,
	}).at(below);
	const session = await CodingSession.open({
		profile: findProfile(provider),
		access: { model: model.model, apiKey: "test-key", headers: {} },
		environment,
		streamFn: model.streamFn as StreamFn,
		listener: (event) => events.push(event),
		today: "2026-01-02",
		...rest,
	});
	return {
		folder,
		environment,
		session,
		model,
		events,
		request: (index) =>
			model.calls[index]!.context.messages.map(({ role, content }) => ({ role, text: readContent(content) })),
		async [Symbol.asyncDispose]() {
			await session.close();
			await folder[Symbol.asyncDispose]();
		},
	};
}
