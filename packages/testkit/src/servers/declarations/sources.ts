/** Where the official SDKs declare the requests of each wire format. */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { collectTypes, type TypeTable } from "./collect.ts";
import { type Declaration, readDeclarations } from "./read.ts";

const require = createRequire(import.meta.url);

interface Source {
	/** A file inside the package. */
	readonly entry: string;
	readonly files: readonly string[];
	readonly roots: readonly string[];
}

/** The declaration files of each format and the types that its requests are made of. */
export const SOURCES = {
	chat: {
		entry: require.resolve("openai"),
		files: ["resources/chat/completions/completions.d.ts", "resources/shared.d.ts"],
		roots: ["ChatCompletionCreateParamsBase"],
	},
	responses: {
		entry: require.resolve("openai"),
		files: ["resources/responses/responses.d.ts", "resources/shared.d.ts"],
		roots: ["ResponseCreateParamsBase"],
	},
	anthropic: {
		entry: require.resolve("@anthropic-ai/sdk"),
		files: ["resources/messages/messages.d.ts", "resources/shared.d.ts"],
		roots: ["MessageCreateParamsBase"],
	},
	gemini: {
		entry: require.resolve("@google/genai"),
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
	const folder = findPackage(source.entry);
	const declarations = new Map<string, Declaration>();
	for (const file of source.files) {
		for (const [name, declaration] of readDeclarations(readFileSync(join(folder, file), "utf8"))) {
			if (!declarations.has(name)) declarations.set(name, declaration);
		}
	}
	return declarations;
}

/** The folder of the package that a file belongs to. */
function findPackage(file: string): string {
	let folder = dirname(file);
	while (!isPackage(folder)) {
		if (dirname(folder) === folder) throw new Error(`${file} belongs to no package.`);
		folder = dirname(folder);
	}
	return folder;
}

/** Folders inside a package may have a nameless manifest of their own. */
function isPackage(folder: string): boolean {
	const manifest = join(folder, "package.json");
	return existsSync(manifest) && "name" in JSON.parse(readFileSync(manifest, "utf8"));
}

/** The committed form of a field list: one type per line. */
export function formatTypes(types: TypeTable): string {
	const lines = Object.entries(types).map(([name, type]) => `${JSON.stringify(name)}: ${JSON.stringify(type)}`);
	return `{\n${lines.join(",\n")}\n}\n`;
}
