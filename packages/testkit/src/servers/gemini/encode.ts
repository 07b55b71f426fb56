/** Scripted replies as Gemini stream chunks. */

import { parseObject } from "../json.ts";
import type { RecordedRequest } from "../request.ts";
import type { Frame } from "../send.ts";
import {
	argumentsText,
	cutText,
	listBlocks,
	type ReplyOptions,
	resolveFinish,
	type ScriptedBlock,
	type ScriptedCall,
	type ScriptedUsage,
} from "../step.ts";
import { signCall, signText } from "./signature.ts";

const FINISH = { stop: "STOP", tools: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" } as const;

let replies = 0;

/** The chunks of one reply; the last one carries the finish reason and the usage. */
export function encodeGemini(options: ReplyOptions, request: RecordedRequest): Frame[] {
	replies += 1;
	const model = readModel(request.path);
	const base = { modelVersion: model, responseId: `gemini-${replies}` };
	const usageMetadata = encodeUsage(options.usage);
	const chunk = (parts: object[], more: object = {}) =>
		JSON.stringify({ candidates: [{ content: { parts, role: "model" }, index: 0, ...more }], usageMetadata, ...base });

	const blocks = listBlocks(options);
	const firstCall = blocks.findIndex((block) => block.type === "call");
	const frames = blocks.flatMap((block, index) =>
		encodeParts(block, model, index === firstCall, options.chunk).map(
			(part): Frame => ({ data: chunk([part]), part: "content" }),
		),
	);
	const isSigned = firstCall < 0 && blocks.some((block) => block.type === "thinking");
	const lastPart = { text: "", ...(isSigned ? { thoughtSignature: signText(model) } : {}) };
	frames.push({ data: chunk([lastPart], { finishReason: FINISH[resolveFinish(options)] }), part: "last" });
	return frames;
}

/** The model that an address such as `/v1beta/models/NAME:streamGenerateContent` names. */
export function readModel(path: string): string {
	return /\/models\/([^/:?]+):/.exec(path)?.[1] ?? "";
}

function encodeParts(block: ScriptedBlock, model: string, isSigned: boolean, chunk: number | undefined): object[] {
	if (block.type === "text") return cutText(block.text, chunk).map((text) => ({ text }));
	if (block.type === "thinking") return cutText(block.text, chunk).map((text) => ({ text, thought: true }));
	const functionCall = encodeCall(block);
	return [{ functionCall, ...(isSigned ? { thoughtSignature: signCall(model, functionCall) } : {}) }];
}

/** Gemini sends a call in one piece, so that its arguments are always whole. */
function encodeCall(call: ScriptedCall): { name: string; args: object; id?: string } {
	const args = parseObject(argumentsText(call));
	if (!args) throw new Error(`Gemini sends whole arguments; these cannot be scripted: ${argumentsText(call)}`);
	return { name: call.name, args, ...(call.id ? { id: call.id } : {}) };
}

function encodeUsage(usage: ScriptedUsage = {}): object {
	const { input = 10, output = 5, cacheRead = 0, reasoning = 0 } = usage;
	return {
		promptTokenCount: input,
		candidatesTokenCount: output - reasoning,
		totalTokenCount: input + output,
		...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
		...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
	};
}
