import { ignore } from "../lib/ignore.ts";

/** Programs that serve models on this machine, and the ports they listen on by default. */
const SERVERS = [
	{ name: "Ollama", port: 11434 },
	{ name: "LM Studio", port: 1234 },
	{ name: "llama.cpp", port: 8080 },
	{ name: "vLLM", port: 8000 },
] as const;

const ANSWER_WITHIN_MS = 200;

/** A model server on this machine and one model that it offers. */
export interface LocalServer {
	readonly name: string;
	readonly baseUrl: string;
	readonly model: string;
}

/** Asks the usual ports of this machine which models they serve; whoever does not answer at once is not there. */
export async function findLocalServers(
	servers: readonly { readonly name: string; readonly port: number }[] = SERVERS,
	withinMs = ANSWER_WITHIN_MS,
): Promise<readonly LocalServer[]> {
	const found = await Promise.all(servers.map(({ name, port }) => askServer(name, port, withinMs)));
	return found.filter((server) => server !== undefined);
}

async function askServer(name: string, port: number, withinMs: number): Promise<LocalServer | undefined> {
	const baseUrl = `http://127.0.0.1:${port}/v1`;
	try {
		const response = await fetch(`${baseUrl}/models`, {
			signal: AbortSignal.timeout(withinMs),
			redirect: "error",
		});
		const body = (await response.json()) as { data?: { id?: unknown }[] };
		const model = body.data?.[0]?.id;
		return response.ok && typeof model === "string" ? { name, baseUrl, model } : undefined;
	} catch (error) {
		ignore(error, "nobody listens there, or no model server");
		return undefined;
	}
}

/** Says what a server offers and how to use it; nothing is set up by itself. */
export function describeLocalServer(server: LocalServer): string {
	const provider = server.name.toLowerCase().replace(/[^a-z]+/g, "-");
	const entry = {
		providers: {
			[provider]: { baseUrl: server.baseUrl, api: "openai-completions", models: [{ id: server.model }] },
		},
	};
	return `${server.name} answers at ${server.baseUrl}. To use it, put this into models.json: ${JSON.stringify(entry)}`;
}
