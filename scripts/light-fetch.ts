import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** The libraries that are given our `fetch`, so that all their requests and answers are made of the classes beside it. */
const clients = /[/\\]node_modules[/\\](?:openai|@anthropic-ai[/\\]sdk)[/\\].*\.m?js$/;

/** Globals of Node.js whose first use loads undici. */
const heavy = ["FormData", "Headers", "Request", "Response"];

/**
 * Gives the classes of our transport to the libraries that ask models: a mention of `Headers` alone loads undici, which
 * takes a fifth of the time from the start to the first request.
 */
export const giveLightFetch: Plugin = {
	name: "light-fetch",
	setup({ onLoad }) {
		onLoad({ filter: clients }, async ({ path }) => {
			const text = await readFile(path, "utf8");
			const used = heavy.filter((name) => new RegExp(`(?<![.\\w$"'])${name}\\b`).test(text));
			if (used.length === 0) return undefined;
			return { contents: `import{${used.join(",")}}from"@whatwg-node/node-fetch";\n${text}`, loader: "js" };
		});
	},
};
