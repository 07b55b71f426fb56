import type { Api, Model, SimpleStreamOptions } from "@earendil-works/pi-ai";

type PayloadHook = NonNullable<SimpleStreamOptions["onPayload"]>;

/** Gemini from 3 on refuses a step of calls whose first one lacks the signature of its thoughts. */
const wantsSignatures = /gemini-(?:[3-9]|\d\d)/;

/** What Google documents for calls that another model made: https://ai.google.dev/gemini-api/docs/thought-signatures */
const standIn = "skip_thought_signature_validator";

/**
 * A payload hook that runs `inner` and then, for the models that want it, marks calls that another model made, so that
 * a conversation can change its model in the middle of its work.
 */
export function completeSignatures(inner: PayloadHook | undefined): PayloadHook {
	return async (payload, model) => {
		const changed = await inner?.(payload, model);
		return needsSignatures(model) ? addStandIns(changed ?? payload) : changed;
	};
}

function needsSignatures({ api, id }: Model<Api>): boolean {
	return (api === "google-generative-ai" || api === "google-vertex") && wantsSignatures.test(id);
}

interface Part {
	readonly functionCall?: object;
	readonly thoughtSignature?: string;
}

interface Content {
	readonly parts?: readonly Part[];
}

function addStandIns(payload: unknown): unknown {
	const { contents } = payload as { readonly contents?: unknown };
	return Array.isArray(contents) ? { ...(payload as object), contents: contents.map(signContent) } : payload;
}

/** Only the first call of a step carries a signature. */
function signContent(content: Content): Content {
	const first = content.parts?.findIndex((part) => part.functionCall) ?? -1;
	const call = content.parts?.[first];
	if (!call || call.thoughtSignature !== undefined) return content;
	return { ...content, parts: content.parts?.with(first, { ...call, thoughtSignature: standIn }) ?? [] };
}
