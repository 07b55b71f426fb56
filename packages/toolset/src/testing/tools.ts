import type { AgentToolResult } from "@prime-agent/loop";
import { LocalEnvironment, type LocalOptions } from "../environment/local.ts";
import { createEditTool } from "../tools/edit.ts";
import { createPatchTool } from "../tools/patch/tool.ts";
import { PathLocks } from "../tools/paths.ts";
import { createReadManyTool, createReadTool } from "../tools/read.ts";
import { createGlobTool, createGrepTool, createListTool } from "../tools/search.ts";
import { createShellTool } from "../tools/shell.ts";
import type { CodingTool } from "../tools/tool.ts";
import { createWriteTool } from "../tools/write.ts";
import { makeFolder, type TestFolder } from "./folder.ts";

/** What a call answered. */
export interface Answer {
	text: string;
	isError: boolean;
	images: { data: string; mimeType: string }[];
}

/** The text and the images of a result. */
export function readResult(result: AgentToolResult): Answer {
	const texts = result.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
	const images = result.content.flatMap((part) =>
		part.type === "image" ? [{ data: part.data, mimeType: part.mimeType }] : [],
	);
	return { text: texts.join("\n"), isError: result.isError === true, images };
}

/** Real tools on a temporary folder. */
export interface TestTools extends AsyncDisposable {
	folder: TestFolder;
	environment: LocalEnvironment;
	tools: Record<string, CodingTool>;
	/** Runs one call and gives its answer. */
	call(name: string, args: object, signal?: AbortSignal): Promise<Answer>;
}

/** Makes every tool in a folder with these files. */
export async function makeTools(
	files: Record<string, string | Uint8Array> = {},
	options: Partial<LocalOptions> = {},
): Promise<TestTools> {
	const folder = await (await makeFolder()).write(files);
	const environment = new LocalEnvironment({
		workingDirectory: folder.path,
		variables: { PATH: process.env.PATH },
		killGraceMs: 300,
		...options,
	});
	const locks = new PathLocks();
	const list = [
		createReadTool(environment, true),
		createReadManyTool(environment, true),
		createWriteTool(environment, locks),
		createEditTool(environment, locks),
		createPatchTool(environment, locks),
		createShellTool(environment, { usual: 60_000, longest: 600_000 }),
		createGrepTool(environment, true),
		createGlobTool(environment),
		createListTool(environment),
	];
	const tools = Object.fromEntries(list.map((tool) => [tool.name, tool]));
	return {
		folder,
		environment,
		tools,
		async call(name, args, signal) {
			return readResult(await tools[name]!.execute("call", args as never, signal));
		},
		async [Symbol.asyncDispose]() {
			await environment.cleanup();
			await folder[Symbol.asyncDispose]();
		},
	};
}
