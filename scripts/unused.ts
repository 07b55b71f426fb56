import { readFile } from "node:fs/promises";
import { init, parse } from "es-module-lexer";
import type { Plugin } from "esbuild";

/** Resources of the OpenAI SDK that requests for replies need; its client makes one object of each of all others. */
const needed = /[/\\]resources[/\\](?:index|shared|chat|responses)[/\\.]/;

/** Its own ways to run tools and to gather a reply from its events, which pi-ai does itself. */
const conveniences =
	/[/\\]lib[/\\](?:EventStream|\w*ChatCompletion\w*(?:Stream|Runner)|responses[/\\]ResponseStream)\.mjs$/;

/**
 * Puts empty classes in place of those parts of the OpenAI SDK that no request for a reply uses (files, images,
 * realtime, administration, tool runners, ...): they are three fifths of it, and its client builds them all before the
 * first request.
 */
export const leaveOutUnusedResources: Plugin = {
	name: "unused-resources",
	setup({ onLoad }) {
		onLoad({ filter: /[/\\]openai[/\\](?:resources|lib)[/\\].*\.mjs$/ }, async ({ path }) => {
			if (needed.test(path) || (/[/\\]lib[/\\]/.test(path) && !conveniences.test(path))) return undefined;
			await init;
			const [, exports] = parse(await readFile(path, "utf8"));
			return { contents: exports.map(({ n }) => `export class ${n} {}`).join("\n"), loader: "js" };
		});
	},
};
