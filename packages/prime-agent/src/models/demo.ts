import type { Api, AssistantMessage, Model, TranscriptContext } from "@earendil-works/pi-ai";
import {
	createFauxCore,
	type FauxResponseFactory,
	fauxAssistantMessage,
	fauxText,
	fauxToolCall,
} from "@earendil-works/pi-ai/providers/faux";
import { COUNT_LINES, LIST_FILES, SUM_LINES } from "./demo-cells.ts";
import type { ModelStream } from "./stream.ts";

/** A model that follows a script; `label` is what a person must be told. */
export interface DemoModel {
	readonly model: Model<Api>;
	readonly stream: ModelStream;
	readonly label: string;
}

/**
 * A scripted model that shows a run without a key: its words are written here, its cells are real, and every number it
 * names comes out of their results. It can be asked once.
 */
export function createDemo(): DemoModel {
	const core = createFauxCore({ provider: "demo", api: "demo", models: [{ id: "scripted", name: "Scripted demo" }] });
	core.setResponses([
		say("I will look at the folder first.", LIST_FILES),
		say("Now the number of lines.", SUM_LINES),
		(context) =>
			lastResult(context)?.isError
				? call("That variable does not exist yet: I have to count before I can sum.", COUNT_LINES)
				: fauxAssistantMessage("The cell that was meant to fail did not; the demo ends here."),
		(context) => fauxAssistantMessage(describeFolder(context)),
	]);
	return {
		model: core.getModel(),
		stream: async (model, context, options) => core.streamSimple(model, context, options),
		label: "Demo: a script plays the model, nothing is sent anywhere. The cells it runs are real.",
	};
}

function say(text: string, code: string): FauxResponseFactory {
	return () => call(text, code);
}

function call(text: string, code: string): AssistantMessage {
	return fauxAssistantMessage([fauxText(text), fauxToolCall("ipython", { code })], { stopReason: "toolUse" });
}

function results(context: TranscriptContext) {
	return context.messages.filter((message) => message.role === "toolResult");
}

function lastResult(context: TranscriptContext) {
	return results(context).at(-1);
}

/** What the cells measured; a cell that failed leaves its part out. */
function describeFolder(context: TranscriptContext): string {
	const measured: Record<string, unknown> = {};
	for (const result of results(context)) {
		if (!result.isError) Object.assign(measured, readFacts(result.content));
	}
	const { folder, files, folders, kinds, heading, lines, longest, skipped } = measured;
	if (typeof files !== "number") return "No cell could be run here, so I measured nothing.";

	const sentences = [`${folder} holds ${count(files, "file")} in ${count(folders, "folder")}.`];
	if (Array.isArray(kinds) && kinds.length > 0) {
		sentences.push(`Most are ${kinds.map(([kind, amount]) => `${kind} (${amount})`).join(", ")}.`);
	}
	if (Array.isArray(longest)) {
		sentences.push(
			`Together they have ${count(lines, "line")} of text; the longest is ${longest[0]} with ${longest[1]}.`,
		);
	}
	if (typeof heading === "string") sentences.push(`Its README begins: "${heading}"`);
	if (typeof skipped === "number" && skipped > 0) {
		sentences.push(`Left out: ${count(skipped, "folder")} that tools make or that are hidden.`);
	}
	sentences.push("(One cell failed on the way, a variable that did not exist yet, and was done again.)");
	return sentences.join("\n");
}

function readFacts(content: readonly { type: string; text?: string }[]): object {
	const text = content.map((block) => block.text ?? "").join("\n");
	const line = text.split("\n").find((each) => each.startsWith('{"'));
	return line === undefined ? {} : (JSON.parse(line) as object);
}

function count(amount: unknown, noun: string): string {
	return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
