import { obj } from "@earendil-works/pi-schema";
import { type ModelStep, reply } from "@prime-agent/testkit";
import { type AnyFeature, defineFeature } from "../../../session/host.ts";
import { type Bench, type BenchOptions, openBench } from "../../../session/testing/harness.ts";
import { retry } from "../../retry/feature.ts";
import { compaction } from "../feature.ts";

/** Stands for the kernel: a tool whose calls make the next request through the kernel's door, or print a text. */
export function cellFeature(requests: readonly (readonly [string, object])[], output = "worked"): AnyFeature {
	const waiting = [...requests];
	return defineFeature({
		name: "cell",
		setup: (host) =>
			host.registerTool({
				name: "cell",
				label: "Cell",
				description: "Runs the next request",
				parameters: obj({}),
				async execute() {
					const next = waiting.shift();
					const answer = next ? JSON.stringify(await current.session.call(next[0], next[1], "kernel")) : output;
					return { content: [{ type: "text", text: answer }], details: {} };
				},
			}),
	});
}

let current: Bench;

/** A session with compaction and retry that keeps as little as it can. */
export function open(steps: readonly ModelStep[], options: BenchOptions = {}) {
	current = openBench({
		features: [cellFeature([]), compaction, retry],
		settings: { "compaction.keepRecentTokens": 20 },
		...options,
		steps,
	});
	return current;
}

/** Usage that is above the threshold of the window of 200,000 tokens. */
export const FULL = { input: 190_000, output: 100 };
/** Usage that is far below it. */
export const SMALL = { input: 900, output: 100 };
/** How a server words a request that does not fit. */
export const TOO_LONG =
	"400 This model's maximum context length is 10 tokens. Please reduce the length of the messages.";

/** A reply that calls the cell. */
export const cell = (usage = SMALL) => reply({ calls: [{ name: "cell", arguments: {} }], usage });
/** A reply that ends a turn. */
export const text = (value: string, usage = SMALL) => reply({ text: value, usage });
/** A summary. */
export const notes = (value = "NOTES") => reply({ text: value, usage: { input: 1_000, output: 50 } });

/** The data of the events of one name, in order. */
export const told = (bench: Bench, name: string) =>
	bench.events.flatMap((event) => (event.type === "feature_event" && event.name === name ? [event.data] : []));
/** What people were told in words. */
export const notices = (bench: Bench) => bench.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
/** The compactions of the branch. */
export const entries = (bench: Bench) => bench.log.branch(new Set(["compaction"]));

/** What a request says to the model, beside its system message. */
export function asked(bench: Bench, call: number): string[] {
	const { messages } = bench.model.calls[call]!.context;
	return messages
		.filter((message) => message.role !== "system")
		.map(({ content }) =>
			typeof content === "string"
				? content
				: content.map((block) => ("text" in block ? block.text : block.type)).join(),
		);
}
