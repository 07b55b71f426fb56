import { listObjects } from "../json.ts";
import { isObject } from "../shape.ts";

/** One place where calls and results do not belong together. */
export interface PairingFault {
	readonly kind: "orphan-result" | "missing-result" | "duplicate-call" | "duplicate-result";
	/** Index of the message with the call or the result. */
	readonly index: number;
	readonly ids: readonly string[];
}

/** Every fault of calls and results in a list of chat messages. */
export function findPairingFaults(messages: unknown): PairingFault[] {
	const faults: PairingFault[] = [];
	const seen = new Set<string>();
	let open = new Set<string>();
	let answered = new Set<string>();
	let asked = 0;

	function settle(): void {
		if (open.size > 0) faults.push({ kind: "missing-result", index: asked, ids: [...open] });
		open = new Set();
		answered = new Set();
	}

	for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
		if (!isObject(message)) continue;
		if (message.role === "tool") {
			const id = String(message.tool_call_id);
			if (open.delete(id)) answered.add(id);
			else faults.push({ kind: answered.has(id) ? "duplicate-result" : "orphan-result", index, ids: [id] });
			continue;
		}
		settle();
		asked = index;
		for (const call of listObjects(message.tool_calls)) {
			const id = String(call.id);
			if (seen.has(id)) faults.push({ kind: "duplicate-call", index, ids: [id] });
			seen.add(id);
			open.add(id);
		}
	}
	settle();
	return faults;
}
