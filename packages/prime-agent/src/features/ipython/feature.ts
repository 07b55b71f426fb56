import { obj, type Static, str } from "@earendil-works/pi-schema";
import type { AgentTool } from "@prime-agent/loop";
import { errorText } from "../../lib/text.ts";
import { defineFeature } from "../../session/host.ts";
import { type CellOptions, KERNEL, type KernelEvent, type KernelPort } from "../../session/ports.ts";
import { kernelInfo } from "./operations.ts";
import { cutOutput, MAX_OUTPUT, renderCell } from "./output.ts";
import { BASE_PROMPT, TOOL_DESCRIPTION } from "./prompt.ts";
import { tellKernelEvents } from "./watch.ts";

const Params = obj({ code: str({ description: "Python code, or %%bash on the first line and a script" }) });

/** The model's one tool: a cell in the persistent kernel. */
export const ipython = defineFeature({
	name: "ipython",
	setup(host) {
		const kernel = host.port(KERNEL);
		const tell = tellKernelEvents(host);
		/** What happened before the first run: a kernel may start while the session is built, and nobody listens yet. */
		let early: KernelEvent[] | undefined = [];
		kernel.watch((event) => (early ? early.push(event) : tell(event)));
		host.handle(kernelInfo, () => kernel.info() ?? null);
		host.registerPromptPart("base", () => BASE_PROMPT);
		let hasRun = false;
		/** Earlier cells of a session that goes on ran in a kernel that is gone: the model still sees them. */
		const isNewToModel = () => {
			if (hasRun) return false;
			hasRun = true;
			return host.messages().some((message) => message.role === "toolResult" && message.toolName === "ipython");
		};
		let lastFault = "";
		let said = kernel.leftOut.length === 0;
		host.registerTool(
			cellTool(kernel, {
				isNewToModel,
				whenUsed: () => {
					if (said) return;
					said = true;
					const names = kernel.leftOut.join(", ");
					host.notify("info", `Not visible in cells: ${names}. The setting kernel.env.pass lets names through.`);
				},
				whenUnavailable: (text) => {
					if (lastFault !== text) host.notify("warning", text);
					lastFault = text;
					host.emit("kernel_unavailable", { error: text });
				},
			}),
		);
		// while somebody listens: at the end of the session nobody may
		host.on("run_end", () => kernel.save());
		let isDue = false;
		host.on("run_start", () => {
			isDue = true;
			for (const event of early ?? []) tell(event);
			early = undefined;
		});
		host.before("request", () => {
			if (isDue) afterSending(() => kernel.prewarm());
			isDue = false;
			return undefined;
		});
	},
});

/**
 * Calls back when the request that is about to be sent is on its way: to start a kernel keeps this process busy for
 * longer than sending takes, and the model needs longer still. A connection is made in the round of the event loop
 * after this one.
 */
function afterSending(run: () => void): void {
	setImmediate(() => setImmediate(run));
}

/** What a cell asks and tells its session. */
interface CellHooks {
	readonly isNewToModel: () => boolean;
	/** A cell gets its kernel, which may have been started long before. */
	readonly whenUsed: () => void;
	/** No kernel can be started; the text names what was tried. */
	readonly whenUnavailable: (text: string) => void;
}

function cellTool(kernel: KernelPort, { isNewToModel, whenUsed, whenUnavailable }: CellHooks): AgentTool {
	return {
		name: "ipython",
		label: "IPython cell",
		description: TOOL_DESCRIPTION,
		parameters: Params,
		executionMode: "sequential",
		async execute(_id, params, signal, onUpdate) {
			const { code } = params as Static<typeof Params>;
			const options: CellOptions = {
				...(signal ? { signal } : {}),
				onStatus: (status) => {
					whenUsed();
					if (status !== "starting") return;
					onUpdate?.({ content: [{ type: "text", text: "Starting IPython kernel..." }], details: { status } });
				},
				// Only what is new, so that a long output costs its length once.
				onChunk: ({ text, stream }) =>
					onUpdate?.({ content: [{ type: "text", text }], details: { status: "running", stream } }),
			};
			const ran = await kernel.execute(code, options).catch((error: unknown) => {
				// the model reads it as the result of the cell; the person has to mend it
				if ((error as { code?: unknown }).code === "kernel_unavailable") whenUnavailable(errorText(error));
				throw error;
			});
			const isNew = isNewToModel();
			const cell = { ...ran, kernelRestarted: ran.kernelRestarted || isNew };
			const { durationMs, status, stdout, stderr, kernelRestarted, restart } = cell;
			return {
				content: renderCell(cell),
				details: {
					durationMs: Math.round(durationMs),
					status,
					stdout: cutOutput(stdout, MAX_OUTPUT),
					stderr: cutOutput(stderr, MAX_OUTPUT),
					kernelRestarted,
					...(restart ? { restart } : {}),
				},
				isError: status !== "ok",
			};
		},
	};
}
