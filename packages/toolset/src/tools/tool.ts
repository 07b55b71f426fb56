import type { AgentTool, AgentToolResult } from "@prime-agent/loop";
import { EnvironmentError, type ExecutionEnvironment } from "../environment/environment.ts";
import { showPath } from "./paths.ts";

/** What a tool may do to the machine; the permission level decides by it. */
export type ToolClass = "read" | "write" | "shell" | "subagent";

/** A JSON Schema of an object that is known to accept `Value`. */
export type ObjectSchema<Value> = object & { static: Value };

/** A tool of a coding session: a loop tool that knows its class and how to name one of its calls. */
export interface CodingTool extends AgentTool {
	toolClass: ToolClass;
	/** What a call is about, unshortened: real paths, the command, the pattern; empty when there is nothing to say. */
	describeCall(args: unknown): Promise<string>;
}

/** What a tool answers. */
export interface ToolAnswer {
	text: string;
	/** Raw bytes with their media type, shown to the model after the text. */
	images?: { bytes: Uint8Array; mediaType: string }[];
	isError?: boolean;
}

/** A tool's plain failure; its message goes to the model as it is. */
export class ToolFailure extends Error {
	constructor(message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.name = "ToolFailure";
	}
}

/** What a tool's code gets beside its arguments. */
export interface ToolCall {
	/** Always there; never aborts when the caller gave none. */
	signal: AbortSignal;
	/** Tells output while the tool runs. */
	report(text: string): void;
}

/** Everything that makes a tool. */
export interface ToolDefinition<Args> {
	/** As the model calls it. */
	name: string;
	/** As people see it. */
	label: string;
	toolClass: ToolClass;
	description: string;
	properties: Record<string, object>;
	required: (keyof Args & string)[];
	describeCall(args: Partial<Args>): Promise<string> | string;
	run(args: Args, call: ToolCall): Promise<ToolAnswer>;
	/** Repairs raw arguments before they are validated. */
	prepareArguments?(raw: unknown): unknown;
}

/** A result whose text the model reads. */
export function textResult(answer: ToolAnswer): AgentToolResult {
	const images = (answer.images ?? []).map(({ bytes, mediaType }) => ({
		type: "image" as const,
		data: Buffer.from(bytes).toString("base64"),
		mimeType: mediaType,
	}));
	return {
		content: [{ type: "text", text: answer.text }, ...images],
		details: {},
		...(answer.isError ? { isError: true } : {}),
	};
}

/**
 * Makes a loop tool of a definition. Failures that a tool expects become error results with their own words, all others
 * with the tool's name in front; the tool never rejects.
 */
export function defineTool<Args extends object>(definition: ToolDefinition<Args>): CodingTool {
	const { name, label, toolClass, description, properties, required } = definition;
	const parameters = { type: "object", properties, required } as unknown as ObjectSchema<Args>;
	return {
		name,
		label,
		toolClass,
		description,
		parameters,
		...(definition.prepareArguments ? { prepareArguments: definition.prepareArguments } : {}),
		async describeCall(args) {
			return definition.describeCall((args ?? {}) as Partial<Args>);
		},
		async execute(_id, params, signal, onUpdate) {
			const call: ToolCall = {
				signal: signal ?? new AbortController().signal,
				report: (text) => onUpdate?.(textResult({ text })),
			};
			try {
				return textResult(await definition.run(params as Args, call));
			} catch (error) {
				return textResult({ text: explainFailure(name, error), isError: true });
			}
		},
	};
}

/** The words in which the model learns that a tool failed. */
export function explainFailure(name: string, error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	const isExpected = error instanceof ToolFailure || error instanceof EnvironmentError;
	return isExpected ? message : `Tool error (${name}): ${message}`;
}

/** The `describeCall` of tools with one path. */
export function describePath(environment: ExecutionEnvironment, path: string | undefined): Promise<string> | string {
	return typeof path === "string" && path !== "" ? showPath(environment, path) : "";
}
