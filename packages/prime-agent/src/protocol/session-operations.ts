import { arr, bool, int, nullable, obj, oneOf, opt, str, unknown } from "@earendil-works/pi-schema";
import { defineOperation } from "./operation.ts";

const Image = obj({ type: oneOf(["image"]), data: str(), mimeType: str() });

/**
 * Says something to the model. Resolves when the session owns the text (`until: "accepted"`, the default) or when the
 * run that it belongs to has ended (`"done"`). While a run goes on, `lane` says when the text is delivered; without one
 * the call is refused as `busy`. A text that begins with `/` and a command's name is that command; `said` is its answer.
 */
export const sendPrompt = defineOperation({
	name: "prompt.send",
	doors: ["client", "feature"],
	scope: "session",
	effect: "once",
	params: obj({
		text: str(),
		images: opt(arr(Image)),
		lane: opt(oneOf(["steer", "followUp"])),
		until: opt(oneOf(["accepted", "done"])),
	}),
	result: obj({ actionId: int(), stage: str(), error: opt(str()), said: opt(str()) }),
	names: { rpc: "prompt" },
});

/** Stops the running turn and takes back what was queued; `restored` holds the queued texts in order. */
export const abortRun = defineOperation({
	name: "run.abort",
	doors: ["client"],
	scope: "session",
	effect: "idempotent",
	params: obj({}),
	result: obj({ restored: arr(str()) }),
	names: { rpc: "abort" },
});

/** What a client shows about a session. */
export const getState = defineOperation({
	name: "session.state",
	doors: ["client", "feature"],
	scope: "session",
	effect: "read",
	params: obj({}),
	result: obj({
		sessionId: str(),
		sessionFile: nullable(str()),
		cwd: str(),
		model: nullable(obj({ provider: str(), id: str(), contextWindow: int() })),
		thinkingLevel: str(),
		isStreaming: bool(),
		queuedCount: int(),
		messageCount: int(),
	}),
	names: { rpc: "get_state" },
});

/** The messages of the current branch as the model would see them, oldest first. */
export const getMessages = defineOperation({
	name: "session.messages",
	doors: ["client", "feature"],
	scope: "session",
	effect: "read",
	params: obj({}),
	result: obj({ messages: arr(unknown()) }),
	names: { rpc: "get_messages" },
});
