import type { FeatureHost } from "../../session/host.ts";
import type { KernelEvent, LostName } from "../../session/ports.ts";

/** More variables than this of one snapshot are counted instead of told one by one. */
const MAX_TOLD = 20;
const MAX_NAME = 100;

type Teller = Pick<FeatureHost, "emit" | "notify">;

/** Tells clients and people what they should know of the kernel beside its cells; about a snapshot only what is new. */
export function tellKernelEvents({ emit, notify }: Teller): (event: KernelEvent) => void {
	const said = new Set<string>();
	const isNew = (text: string) => said.size < said.add(text).size;
	return (event) => {
		const { type: _type, ...data } = event;
		if (event.type === "ended") {
			emit("kernel_ended", data);
			notify("warning", `${event.how} The next cell gets a new one.`);
		} else if (event.type === "stands_in") {
			const text = `Cells run on the built-in kernel. ${event.reason} ${event.advice}`;
			if (!isNew(text)) return;
			emit("kernel_stands_in", { backend: "builtin", ...data });
			notify("warning", text);
		} else if (event.type === "save_failed") {
			const text = `The variables of the kernel were not saved: ${event.reason}.`;
			if (!isNew(text)) return;
			emit("kernel_save_failed", data);
			notify("warning", text);
		} else {
			const unsaved = event.unsaved.filter((lost) => isNew(describe(lost)));
			if (unsaved.length === 0) return;
			emit("kernel_saved", { count: event.names.length, unsaved: event.unsaved, bytes: event.bytes });
			for (const lost of unsaved.slice(0, MAX_TOLD)) notify("info", `Not saved with the session: ${describe(lost)}.`);
			const more = unsaved.length - MAX_TOLD;
			if (more > 0) notify("info", `Not saved with the session: ${more} more variables.`);
		}
	};
}

function describe({ name, why }: LostName): string {
	const shown = name.slice(0, MAX_NAME);
	return why ? `the variable ${shown} (${why})` : `the variable ${shown}`;
}
