import type { AgentTool } from "@prime-agent/loop";
import { type Entry, entryKind } from "../protocol/entry.ts";
import type { PlacedHook } from "./boundary.ts";
import type { AnyFeature, Command, GatePoint, GateValues, GateVerdict, Moments, Refusal } from "./host.ts";
import type { SessionLog } from "./log.ts";

type Gate = (value: never) => GateVerdict<GatePoint> | Promise<GateVerdict<GatePoint>>;
type Listener = (value: never) => void | Promise<void>;

/** Tells who failed where; features never stop each other. */
export type ReportFault = (feature: string, during: string, error: unknown) => void;

/** Everything that features registered, and their states. */
export class Registry {
	readonly hooks: PlacedHook[] = [];
	readonly tools = new Map<string, AgentTool>();
	readonly commands = new Map<string, Command>();
	readonly promptParts: { readonly name: string; readonly text: () => string }[] = [];
	readonly #gates = new Map<GatePoint, { feature: string; run: Gate }[]>();
	readonly #listeners = new Map<keyof Moments, { feature: string; run: Listener }[]>();
	readonly #states = new Map<string, unknown>();
	readonly #readers = new Map<string, AnyFeature[]>();
	readonly #features: readonly AnyFeature[];
	readonly #report: ReportFault;

	constructor(features: readonly AnyFeature[], report: ReportFault) {
		this.#features = features;
		this.#report = report;
		for (const feature of features) {
			this.#states.set(feature.name, feature.initial);
			for (const kind of feature.reads ?? []) append(this.#readers, kind, feature);
		}
	}

	state<T>(feature: string): T {
		return this.#states.get(feature) as T;
	}

	/** Rebuilds every state along the log's branch: the one way of resume, fork and navigation. */
	replay(log: SessionLog): void {
		for (const feature of this.#features) this.#states.set(feature.name, feature.initial);
		for (const entry of log.branch(new Set(this.#readers.keys()))) this.reduce(entry);
	}

	/** Lets the features that read this kind of entry see it. */
	reduce(entry: Entry): void {
		const kind = entryKind(entry.type, entry.customType as string | undefined);
		for (const feature of this.#readers.get(kind) ?? []) {
			try {
				this.#states.set(feature.name, feature.reduce?.(this.#states.get(feature.name), entry));
			} catch (error) {
				this.#report(feature.name, `entry ${entry.id}`, error);
			}
		}
	}

	addGate(point: GatePoint, feature: string, run: Gate): void {
		append(this.#gates, point, { feature, run });
	}

	/** Asks the gates of a point in order; each sees what the ones before it changed. The first refusal ends it. */
	async pass<Point extends GatePoint>(point: Point, value: GateValues[Point]): Promise<GateValues[Point] | Refusal> {
		let current = value;
		for (const { feature, run } of this.#gates.get(point) ?? []) {
			try {
				const verdict = (await run(current as never)) as GateVerdict<Point>;
				if (!verdict) continue;
				if ("refuse" in verdict) return verdict;
				current = { ...current, ...verdict.change };
			} catch (error) {
				this.#report(feature, `before ${point}`, error);
			}
		}
		return current;
	}

	addListener(moment: keyof Moments, feature: string, run: Listener): void {
		append(this.#listeners, moment, { feature, run });
	}

	/** Tells all listeners of a moment and waits for them. */
	async tell<Name extends keyof Moments>(moment: Name, value: Moments[Name]): Promise<void> {
		for (const { feature, run } of this.#listeners.get(moment) ?? []) {
			try {
				await run(value as never);
			} catch (error) {
				this.#report(feature, `on ${moment}`, error);
			}
		}
	}
}

/** Whether a gate refused. */
export function isRefusal(value: object): value is Refusal {
	return "refuse" in value;
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
	const list = lists.get(key);
	if (list) list.push(value);
	else lists.set(key, [value]);
}
