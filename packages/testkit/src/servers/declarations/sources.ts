/** Where the official SDKs declare the requests of each wire format. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { collectTypes, type TypeTable } from "./collect.ts";
import { type Declaration, readDeclarations } from "./read.ts";

interface Source {
	readonly package: string;
	readonly files: readonly string[];
	readonly roots: readonly string[];
}

/** The declaration files of each format and the types that its requests are made of. */
export const SOURCES = {
	chat: {
		package: "openai",
		files: ["resources/chat/completions/completions.d.ts", "resources/shared.d.ts"],
		roots: ["ChatCompletionCreateParamsBase"],
	},
	responses: {
		package: "openai",
		files: ["resources/responses/responses.d.ts", "resources/shared.d.ts"],
		roots: ["ResponseCreateParamsBase"],
	},
	anthropic: {
		package: "@anthropic-ai/sdk",
		files: ["resources/messages/messages.d.ts", "resources/shared.d.ts"],
		roots: ["MessageCreateParamsBase"],
	},
	gemini: {
		package: "@google/genai",
		files: ["dist/genai.d.ts"],
		roots: ["Content", "Tool", "ToolConfig", "GenerationConfig", "SafetySetting"],
	},
} as const satisfies Record<string, Source>;

/** A wire format that has a field list. */
export type FormatName = keyof typeof SOURCES;

/** Reads the types of a format's requests out of the installed SDK. */
export function readSdkTypes(format: FormatName): TypeTable {
	return collectTypes(readSdkDeclarations(format), SOURCES[format].roots);
}

/** Reads everything that the files of a format declare. */
export function readSdkDeclarations(format: FormatName): Map<string, Declaration> {
	const source: Source = SOURCES[format];
	const folder = findPackage(source.package);
	const declarations = new Map<string, Declaration>();
	for (const file of source.files) {
		for (const [name, declaration] of readDeclarations(readFileSync(join(folder, file), "utf8"))) {
			if (!declarations.has(name)) declarations.set(name, declaration);
		}
	}
	return declarations;
}

function findPackage(name: string): string {
	const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
	for (const path of paths) {
		const folder = join(path, name);
		try {
			readFileSync(join(folder, "package.json"));
			return folder;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
		}
	}
	throw new Error(`The package ${name} is not installed above ${dirname(import.meta.filename)}.`);
}

/** The committed form of a field list: one type per line. */
export function formatTypes(types: TypeTable): string {
	const lines = Object.entries(types).map(([name, type]) => `${JSON.stringify(name)}: ${JSON.stringify(type)}`);
	return `{\n${lines.join(",\n")}\n}\n`;
}
