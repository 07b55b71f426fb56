import type { Entry } from "../protocol/entry.ts";
import type { SessionEvent } from "../protocol/event.ts";
import type { Door } from "../protocol/operation.ts";
import type { AnyFeature, FeatureHost } from "./host.ts";
import type { SharedParts } from "./parts.ts";
import type { PortToken } from "./ports.ts";

/** What hosting a feature needs of its session. */
export interface HostParts extends SharedParts {
	readonly ports: ReadonlyMap<string, unknown>;
	readonly signal: AbortSignal;
	readonly emit: (event: SessionEvent) => void;
	readonly call: (name: string, params: unknown, door: Door, signal?: AbortSignal) => Promise<unknown>;
}

/** The surface of one feature: every registration carries its name. */
export function hostFor(parts: HostParts, feature: AnyFeature): FeatureHost<unknown> {
	const { log, queue, registry, operations } = parts;
	const { name } = feature;
	return {
		signal: parts.signal,
		state: () => registry.state(name),
		logVersion: () => log.version,
		append: (customType, data, options) => log.append([{ type: "custom", customType, data }], options)[0] as Entry,
		write: (draft, options) => log.append([draft], options)[0] as Entry,
		branch: (kinds) => log.branch(kinds),
		fromLeaf: () => log.fromLeaf(),
		messages: () => parts.context.messages(),
		emit: (event, data) => parts.emit({ type: "feature_event", name: event, data }),
		notify: (level, text) => parts.emit({ type: "notice", level, text }),
		handle: (operation, run) => operations.handle(operation, run),
		call: (operation, params, signal) => parts.call(operation.name, params, "feature", signal) as Promise<never>,
		enqueue: ({ lane, key, ...content }) => {
			const action = queue.add(lane, content, key);
			parts.runner.wake();
			return { id: action.id, done: action.ended };
		},
		before: (point, run) => registry.addGate(point, name, run),
		pass: (point, value) => registry.pass(point, value),
		on: (moment, run) => registry.addListener(moment, name, run),
		atBoundary: (phase, run) => registry.hooks.push({ phase, feature: name, run }),
		registerTool: (tool) => addOnce(registry.tools, tool.name, tool, "tool"),
		registerCommand: (command) => addOnce(registry.commands, command.name, command, "command"),
		registerPromptPart: (part, text) => registry.promptParts.push({ name: part, text }),
		port: <T>(token: PortToken<T>) => {
			if (!parts.ports.has(token.name)) throw new Error(`Nobody supplies the port "${token.name}" that ${name} needs.`);
			return parts.ports.get(token.name) as T;
		},
		findPort: <T>(token: PortToken<T>) => parts.ports.get(token.name) as T | undefined,
	};
}

function addOnce<T>(map: Map<string, T>, key: string, value: T, what: string): void {
	if (map.has(key)) throw new Error(`Two features register the ${what} "${key}".`);
	map.set(key, value);
}
