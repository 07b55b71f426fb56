import type { FeatureHost } from "../../session/host.ts";
import type { KernelEvent, LostName } from "../../session/ports.ts";

type Teller = Pick<FeatureHost, "emit" | "notify">;

/** Tells clients what happens to the kernel beside its cells, and people what they should know: each thing once. */
export function tellKernelEvents({ emit, notify }: Teller): (event: KernelEvent) => void {
	const said = new Set<string>();
	const once = (level: "info" | "warning", text: string) => {
		if (said.has(text)) return;
		said.add(text);
		notify(level, text);
	};
	return (event) => {
		emit(`kernel_${event.type}`, eventData(event));
		if (event.type === "ended") notify("warning", `${event.how} The next cell gets a new one.`);
		else if (event.type === "save_failed")
			once("warning", `The variables of the kernel were not saved: ${event.reason}.`);
		else
			for (const { name, why } of event.unsaved)
				once("info", `Not saved with the session: ${describe({ name, why })}.`);
	};
}

/** How many variables are saved is told, not which: the list would come again and again. */
function eventData(event: KernelEvent): Readonly<Record<string, unknown>> {
	if (event.type === "saved") {
		const { names, unsaved, bytes, durationMs } = event;
		return { count: names.length, unsaved, bytes, durationMs };
	}
	const { type: _type, ...data } = event;
	return data;
}

function describe({ name, why }: { readonly name: string; readonly why: LostName["why"] | undefined }): string {
	return why ? `the variable ${name} (${why})` : `the variable ${name}`;
}
