import {
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ModelStep, reply, type ScriptedModel, scriptedModel, tempHome } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { type ComposeOptions, composeSession, type SessionSource } from "./compose.ts";
import { getState, sendPrompt } from "./protocol/session-operations.ts";
import type { SessionPort } from "./protocol/session-port.ts";

const cell = (code: string) => reply({ calls: [{ name: "ipython", arguments: { code } }] });

interface Place {
	readonly cwd: string;
	readonly agentDir: string;
	readonly sessions: string;
	readonly env: NodeJS.ProcessEnv;
}

function placeIn(home: { readonly path: string; readonly env: NodeJS.ProcessEnv }): Place {
	const cwd = join(home.path, "project");
	mkdirSync(cwd);
	const agentDir = join(home.path, "agent");
	return { cwd, agentDir, sessions: join(agentDir, "sessions"), env: home.env };
}

async function open(
	place: Place,
	source: SessionSource,
	steps: readonly ModelStep[],
	more: Partial<ComposeOptions> = {},
): Promise<{ session: SessionPort; model: ScriptedModel }> {
	const model = scriptedModel(steps);
	const session = await composeSession({
		cwd: place.cwd,
		agentDir: place.agentDir,
		session: source,
		chooseModel: () => Promise.resolve(model.model),
		streamFn: model.streamFn,
		appendSystemPrompt: [],
		contextFiles: [],
		tools: "all",
		kernel: { env: place.env },
		...more,
	});
	return { session, model };
}

const say = (session: SessionPort, text: string) => session.call(sendPrompt.name, { text, until: "done" }, "client");

/** A line of a session file. */
const ENTRY = `${JSON.stringify({
	type: "message",
	id: "0000000a",
	parentId: null,
	timestamp: "2026-01-02T03:04:05.000Z",
	message: { role: "user", content: "hi", timestamp: 1 },
})}\n`;

const resultTexts = (model: ScriptedModel) =>
	model.calls
		.at(-1)!
		.context.messages.filter((message) => message.role === "toolResult")
		.map((message) => (message.content[0] as { text: string }).text);

/** The files that this process has open. */
function openFiles(): string[] {
	const folder = "/proc/self/fd";
	return readdirSync(folder).flatMap((name) => {
		const link = join(folder, name);
		// The descriptor that listed the folder is gone by now.
		return existsSync(link) ? [readlinkSync(link)] : [];
	});
}

test("variables live across cells and prompts, a shell script and an exception reach the model", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const { session, model } = await open(place, { kind: "new", dir: place.sessions }, [
		cell("x = 41"),
		cell("%%bash\necho from $((6*7))"),
		reply({ text: "first" }),
		cell("x + 1"),
		cell("1/0"),
		reply({ text: "second" }),
	]);
	await say(session, "one");
	await say(session, "two");
	const results = resultTexts(model);
	expect(results.slice(0, 3)).toEqual(["[no output]", "from 42\n", "42\n"]);
	expect(results[3]).toContain("ZeroDivisionError");
	await session.dispose();
});

test("a cell reaches the session through the host bridge: the model sets and completes a goal", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const { session, model } = await open(place, { kind: "new", dir: place.sessions }, [
		cell("g = await goal.create('Prove it', token_budget=100000)\nprint(g)"),
		reply({ text: "Working on it." }),
		cell("print(await goal.complete())"),
		reply({ text: "Proven." }),
	]);
	await say(session, "go");
	const results = resultTexts(model);
	expect(results[0]).toContain("Prove it");
	expect(results[1]).toContain("complete");
	expect(model.remaining).toBe(0);
	await session.dispose();
});

test("the file and its header carry one id, and the prelude comes in the known order", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const { session } = await open(place, { kind: "new", dir: place.sessions }, [reply({ text: "hi" })]);
	await say(session, "hello");
	await session.dispose();
	const [name] = readdirSync(place.sessions);
	const lines = readFileSync(join(place.sessions, name!), "utf8")
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(name).toBe(`${lines[0].id}.jsonl`);
	expect(lines.map((line) => line.type)).toEqual([
		"session",
		"model_change",
		"thinking_level_change",
		"service_tier_change",
		"session_state",
		"message",
		"message",
	]);
});

test("a session that nobody spoke to leaves no file", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const { session } = await open(place, { kind: "new", dir: place.sessions }, []);
	await session.dispose();
	expect(() => readdirSync(place.sessions)).toThrow("ENOENT");
});

test("a session that goes on keeps its thinking level and model without saying so again", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const first = await open(place, { kind: "new", dir: place.sessions }, [reply({ text: "hi" })], {
		thinkingLevel: "high",
	});
	await say(first.session, "hello");
	const file = first.session.file!;
	await first.session.dispose();
	let last: unknown;
	const again = await open(place, { kind: "open", file }, [reply({ text: "yes" })], {
		chooseModel: (used) => {
			last = used;
			return Promise.resolve(first.model.model);
		},
	});
	await say(again.session, "still there?");
	expect(last).toEqual({ provider: first.model.model.provider, id: first.model.model.id });
	expect(await again.session.call(getState.name, {}, "client")).toMatchObject({
		thinkingLevel: "high",
		messageCount: 4,
	});
	await again.session.dispose();
	expect(readFileSync(file, "utf8").match(/"thinking_level_change"/g)).toHaveLength(1);
});

test("a second opener is told who has the session, and gets it when the owner is done", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const first = await open(place, { kind: "new", dir: place.sessions }, [reply({ text: "hi" })]);
	await say(first.session, "hello");
	const file = first.session.file!;
	await expect(open(place, { kind: "open", file }, [])).rejects.toMatchObject({
		code: "already_active",
		message: expect.stringContaining(`process ${process.pid}`),
	});
	await first.session.dispose();
	const second = await open(place, { kind: "open", file }, []);
	await second.session.dispose();
});

test.each(["link", "copy"] as const)(
	"a %s of an active session's file is refused like the session itself",
	async (kind) => {
		await using home = await tempHome();
		const place = placeIn(home);
		const first = await open(place, { kind: "new", dir: place.sessions }, [reply({ text: "hi" })]);
		await say(first.session, "hello");
		const file = join(place.cwd, "other.jsonl");
		if (kind === "link") symlinkSync(first.session.file!, file);
		else copyFileSync(first.session.file!, file);
		await expect(open(place, { kind: "open", file }, [])).rejects.toMatchObject({
			code: "already_active",
			message: expect.stringContaining(first.session.header.id),
		});
		await first.session.dispose();
		const second = await open(place, { kind: "open", file }, []);
		await second.session.dispose();
		expect(readdirSync(join(place.agentDir, "session-leases"))).toEqual([]);
	},
);

test("a link to an active session whose header is lost is refused, too", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const file = join(place.cwd, "headless.jsonl");
	const link = join(place.cwd, "link.jsonl");
	writeFileSync(file, ENTRY);
	symlinkSync(file, link);
	const first = await open(place, { kind: "open", file }, []);
	await expect(open(place, { kind: "open", file: link }, [])).rejects.toMatchObject({ code: "already_active" });
	await first.session.dispose();
});

test.each([
	["a header that names a folder above", "session.jsonl", { id: "../../evil" }],
	["no header and a name of dots", "...jsonl", undefined],
])("a session file with %s has its variables in a folder of its own", async (_what, name, header) => {
	await using home = await tempHome();
	const place = placeIn(home);
	const head = { type: "session", version: 3, timestamp: "2026-01-02T03:04:05.000Z", cwd: place.cwd, ...header };
	const file = join(place.cwd, name);
	writeFileSync(file, (header ? `${JSON.stringify(head)}\n` : "") + ENTRY);
	const { session } = await open(place, { kind: "open", file }, [cell("x = 1"), reply({ text: "set" })]);
	expect(session.header.id).toBe(header?.id ?? "..");
	await say(session, "set x");
	await session.dispose();
	expect(readdirSync(place.agentDir).sort()).toEqual(["session-artifacts", "session-leases"]);
	const folders = readdirSync(join(place.agentDir, "session-artifacts"));
	expect(folders).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
	expect(readdirSync(join(place.agentDir, "session-artifacts", folders[0]!))).toContain("kernel-state");
	expect(readdirSync(home.path)).not.toContain("evil");
});

test("an unknown tool is an error that names the known ones and leaves nothing running", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const opened = open(place, { kind: "new", dir: place.sessions }, [], { tools: ["nope"] });
	await expect(opened).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("ipython") });
});

test.skipIf(!existsSync("/proc/self/fd"))(
	"a saved session without a model is closed and can be opened again",
	async () => {
		await using home = await tempHome();
		const place = placeIn(home);
		const first = await open(place, { kind: "new", dir: place.sessions }, [reply({ text: "Hello." })]);
		await say(first.session, "hi");
		const file = first.session.file!;
		await first.session.dispose();
		const failing = open(place, { kind: "open", file }, [], {
			chooseModel: () => Promise.reject(new Error("no model")),
		});
		await expect(failing).rejects.toThrow("no model");
		expect(openFiles()).not.toContain(file);
		const again = await open(place, { kind: "open", file }, []);
		expect(openFiles()).toContain(file);
		await again.session.dispose();
	},
);

test("the system prompt has the base, project instructions and additions in order, and a replacement takes the base's place", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const texts = {
		contextFiles: [{ path: "/home/user/AGENTS.md", text: "Be kind." }],
		appendSystemPrompt: ["And brief."],
	};
	const prompts: string[] = [];
	for (const systemPrompt of [undefined, "You are a poet."]) {
		const more = { ...texts, ...(systemPrompt ? { systemPrompt } : {}) };
		const { session, model } = await open(place, { kind: "memory" }, [reply({ text: "hi" })], more);
		await say(session, "hello");
		await session.dispose();
		prompts.push(String(model.calls[0]!.context.messages[0]!.content));
	}
	expect(prompts[0]).toMatch(
		/^You are Prime Agent[\s\S]*\/home\/user\/AGENTS\.md:\n\nBe kind\.\n\nAnd brief\.\n\nWorking directory: /,
	);
	expect(prompts[1]).toMatch(/^You are a poet\.\n\n(?:Skills, [\s\S]*\n\n)?Instructions from /);
});

test("output that is too long for the model stays whole in a file of the session, named in the result", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const { session, model } = await open(place, { kind: "new", dir: place.sessions }, [
		cell("for i in range(30_000): print('line', i)"),
		reply({ text: "long" }),
	]);
	await say(session, "go");
	const { id } = session.header;
	await session.dispose();
	const folder = join(place.agentDir, "session-artifacts", id);
	const name = readdirSync(folder).find((each) => each !== "kernel-state");
	expect(resultTexts(model)[0]).toContain(join(folder, name!));
	expect(readFileSync(join(folder, name!), "utf8").split("\n")).toHaveLength(30_001);
});

test("the first cell of a session that goes on says what became of the variables of the earlier cells", async () => {
	await using home = await tempHome();
	const place = placeIn(home);
	const first = await open(place, { kind: "new", dir: place.sessions }, [cell("x = 1"), reply({ text: "set" })]);
	await say(first.session, "set x");
	const file = first.session.file!;
	await first.session.dispose();
	expect(resultTexts(first.model)[0]).not.toContain("new kernel");
	const steps = [cell("'x' in globals()"), cell("2"), reply({ text: "no" })];
	const again = await open(place, { kind: "open", file }, steps);
	await say(again.session, "is x there?");
	await again.session.dispose();
	const [, second, third] = resultTexts(again.model);
	expect(second).toMatch(/new kernel\. Variables restored from a snapshot: x\.[\s\S]*True/);
	expect(third).toBe("2\n");
});
