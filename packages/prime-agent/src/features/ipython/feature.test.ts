import { type ModelCall, type ModelStep, reply, waitFor } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { defineFeature } from "../../session/host.ts";
import { type CellResult, KERNEL, type KernelEvent, type KernelPort } from "../../session/ports.ts";
import { openBench } from "../../session/testing/harness.ts";
import { ipython } from "./feature.ts";

const DONE: CellResult = {
	status: "ok",
	stdout: "",
	stderr: "",
	displays: [],
	durationMs: 1,
	kernelRestarted: false,
	droppedBytes: 0,
};

/** A kernel that writes down what is asked of it. */
function recordingKernel(more: Partial<KernelPort> = {}) {
	const asked: string[] = [];
	/** How many things were asked before each save. */
	const saves: number[] = [];
	const port: KernelPort = {
		prewarm: () => void asked.push("prewarm"),
		execute: async (code, options) => {
			asked.push(code);
			options?.onStatus?.("running");
			return DONE;
		},
		serve: () => undefined,
		watch: () => undefined,
		save: async () => void saves.push(asked.length),
		leftOut: [],
		info: () => undefined,
		dispose: async () => undefined,
		...more,
	};
	return { asked, saves, ports: [[KERNEL, port]] as const };
}

/** A reply to a request that was sent as the clients of real servers send theirs. */
const sent = (step: ModelStep) => async (call: ModelCall) => {
	await call.options?.onPayload?.({}, call.model);
	return step;
};
const cell = (code: string) => sent(reply({ calls: [{ id: code, name: "ipython", arguments: { code } }] }));

test("the kernel starts once a run, without waiting for a cell, and not before the request is sent", async () => {
	const { asked, ports } = recordingKernel();
	const order = () => `${bench.model.calls.length} requests, ${asked.length} starts`;
	const seen: string[] = [];
	const watch = defineFeature({
		name: "watch",
		setup: (host) => host.before("request", () => void seen.push(order())),
	});
	const steps = [sent(reply({ text: "a" })), sent(reply({ text: "b" }))];
	const bench = openBench({ features: [ipython, watch], ports, steps });
	await bench.say("one");
	await waitFor(() => asked.length === 1, "the first start");
	await bench.say("two");
	await waitFor(() => asked.length === 2, "the second start");
	expect({ asked, seen }).toEqual({
		asked: ["prewarm", "prewarm"],
		seen: ["1 requests, 0 starts", "2 requests, 1 starts"],
	});
});

test("the turns after the first of a run start no kernel", async () => {
	const { asked, ports } = recordingKernel();
	const steps = [cell("1"), cell("2"), reply({ text: "done" })];
	const bench = openBench({ features: [ipython], ports, steps });
	await bench.say("go");
	await waitFor(() => asked.includes("prewarm"), "the start");
	expect(asked.filter((one) => one === "prewarm")).toHaveLength(1);
	expect(asked.filter((one) => one !== "prewarm")).toEqual(["1", "2"]);
});

test("what happens to the kernel before the first run is told when it begins: until then nobody listens", async () => {
	const event = { type: "stands_in", reason: "There is none.", advice: "Make one." } as const;
	let happen: (event: KernelEvent) => void = () => undefined;
	const watch: KernelPort["watch"] = (listener) => {
		happen = listener;
		listener(event);
	};
	const { ports } = recordingKernel({ watch });
	const bench = openBench({ features: [ipython], ports, steps: [reply({ text: "done" }), reply({ text: "done" })] });
	const told = () => bench.events.flatMap((each) => (each.type === "feature_event" ? [each.name] : []));
	expect(told()).toEqual([]);
	await bench.say("go");
	expect(told()).toEqual(["kernel_stands_in"]);
	happen({ type: "save_failed", reason: "no room" });
	expect(told()).toEqual(["kernel_stands_in", "kernel_save_failed"]);
});

test("variables that cells do not get are named once, by name, also where the kernel was ready before", async () => {
	const { ports } = recordingKernel({ leftOut: ["ACME_API_KEY", "GH_TOKEN"] });
	const bench = openBench({ features: [ipython], ports, steps: [cell("1"), cell("2"), reply({ text: "done" })] });
	await bench.say("go");
	expect(bench.events.flatMap((event) => (event.type === "notice" ? [`${event.level}: ${event.text}`] : []))).toEqual([
		"info: Not visible in cells: ACME_API_KEY, GH_TOKEN. The setting kernel.env.pass lets names through.",
	]);
});

test("the variables are saved at the end of a run, after all its cells", async () => {
	const { asked, saves, ports } = recordingKernel();
	const bench = openBench({ features: [ipython], ports, steps: [cell("1"), reply({ text: "done" })] });
	await bench.say("go");
	expect(saves).toEqual([asked.length]);
});
