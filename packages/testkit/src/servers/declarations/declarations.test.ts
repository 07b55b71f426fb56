import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collectTypes } from "./collect.ts";
import { readDeclarations } from "./read.ts";
import { type FormatName, readSdkTypes, SOURCES } from "./sources.ts";

describe("field lists", () => {
	it.each(Object.keys(SOURCES) as FormatName[])("of %s are those of the installed SDK", (format) => {
		const file = join(import.meta.dirname, "../generated", `${format}.json`);
		const committed: unknown = JSON.parse(readFileSync(file, "utf8"));
		expect(committed, "run: npm run fields -w @prime-agent/testkit").toEqual(readSdkTypes(format));
	});

	it("know the fields that every request of the formats has", () => {
		expect(readSdkTypes("chat")).toHaveProperty("ChatCompletionCreateParamsBase.messages");
		expect(readSdkTypes("responses")).toHaveProperty("ResponseCreateParamsBase.input?");
		expect(readSdkTypes("anthropic")).toHaveProperty("MessageCreateParamsBase.max_tokens");
		expect(readSdkTypes("gemini")).toHaveProperty("Part.functionCall?");
	});
});

describe("declaration reader", () => {
	const text = `
		import { X } from "./x.js";
		/** A doc comment with a brace { and a ; */
		export interface Base { kind: 'base'; }
		export declare namespace Request {
			interface Part { a?: Array<Part | null>; "quoted-name": Shared.Word; }
			namespace Part { type Deep = { inner: number } | Part; }
		}
		export interface Request extends Base, Missing {
			kind: 'request';
			part: Request.Part;
			deep?: Request.Part.Deep[];
			text: (string & {}) | Word;
			words: Word | null;
			map: { [key: string]: number };
			record: Record<string, unknown>;
			call(input: string): Promise<void>;
			handler?: (input: string) => void;
			readonly fixed: true;
			mode: Mode;
		}
		export type Word = 'one' | "two";
		export declare enum Mode { A = "a", B = "b" }
		export declare function ignored(value: { kind: string }): void;
	`;

	it("gives objects with inherited fields, aliases, enums and nested types, and unknown for the rest", () => {
		expect(collectTypes(readDeclarations(text), ["Request"])).toEqual({
			Mode: "'a' | 'b'",
			Request: {
				kind: "'request'",
				part: "Request.Part",
				"deep?": "Array<Request.Part.Deep>",
				text: "string",
				words: "Word | null",
				map: "Record<number>",
				record: "Record<unknown>",
				"handler?": "unknown",
				fixed: "true",
				mode: "Mode",
			},
			"Request.Part": { "a?": "Array<Request.Part | null>", "quoted-name": "Word" },
			"Request.Part.Deep": "Request.Part.Deep{} | Request.Part",
			"Request.Part.Deep{}": { inner: "number" },
			Word: "'one' | 'two'",
		});
	});

	it("refuses a root that the declarations have not", () => {
		expect(() => collectTypes(readDeclarations(text), ["Nothing"])).toThrow("The declarations have no Nothing.");
	});
});
