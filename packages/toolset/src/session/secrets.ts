import { basename, join } from "node:path";
import type { ExecutionEnvironment } from "../environment/environment.ts";
import { listRepositoryFolders } from "../project-docs.ts";

/** A text that no tool may show to the model, and what stands in its place. */
interface Secret {
	value: string;
	mark: string;
}

// Shorter ones stand in many texts by chance.
const shortest = 8;
const longestFile = 1_000_000;
// What no honest file of settings has is passed over, so that no file can cost much time.
const longestLine = 10_000;
const mostSecrets = 1000;
const mostNames = 200;
const deepest = 3;
const mostFolders = 500;

const secretName = /SECRET|TOKEN|PASSW|CREDENTIAL|PRIVATE|(KEY|PASS|PWD|AUTH)$/i;
const publicName = /PUBLIC|PUBLISHABLE/i;
const example = /\.(example|sample|template|dist|defaults?)$/;

/** Whether a file of this name holds settings that are no part of the source: `.env` and its variants, no examples. */
function isSecretFile(path: string): boolean {
	const name = basename(path);
	return /^\.env(\.|$)|\.env$/.test(name) && !example.test(name);
}

/** A word that could stand anywhere is no secret worth hiding: it would be torn out of every text. */
function isTelling(value: string): boolean {
	return value.length >= shortest && !/^[a-z]{1,19}$/i.test(value);
}

/** The password in an address; `undefined` for an address without one, the value itself if it is none. */
function findPassword(value: string): string | undefined {
	const address = /^[a-z][\w+.-]*:\/\/(?:[^/?#]*:([^/?#]*)@)?/i.exec(value);
	return address ? address[1] : value;
}

/** A setting whose quoted value goes over several lines. */
const overLines =
	/^[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*[=:][^\S\n]*(?:"([^"]*\n[^"]*)"|'([^']*\n[^']*)'|`([^`]*\n[^`]*)`)/gm;

/** The passwords of a file of settings, by the names that they have there. */
function readSecrets(text: string): { name: string; value: string }[] {
	const found: { name: string; value: string }[] = [];
	for (const line of text.split(/\r?\n/)) {
		if (line.length > longestLine) continue;
		const [, name = "", raw = ""] = /^\s*(?:export\s+)?([\w.-]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
		const quoted = /^(["'`])(.*)\1/.exec(raw);
		const value = quoted ? quoted[2]! : raw.replace(/\s+#.*$/, "");
		const secret = findPassword(value);
		const isSecret = secret !== value || (secretName.test(name) && !publicName.test(name));
		if (isSecret && secret !== undefined && isTelling(secret)) found.push({ name, value: secret });
	}
	for (const [, name = "", ...texts] of text.matchAll(overLines)) {
		if (!secretName.test(name) || publicName.test(name)) continue;
		// Tools show them with something between, so each line counts by itself; frames of keys stand anywhere.
		const values = texts
			.join("")
			.split("\n")
			.map((line) => line.trim());
		for (const value of values) if (isTelling(value) && !value.startsWith("-----")) found.push({ name, value });
	}
	return found;
}

const around = /[\s"'`<>|;&(){}=:,\\]/;
const longestPath = 4096;

/** Paths in the arguments of a call that lead to files of settings. */
function findSecretPaths(args: unknown): string[] {
	const text = JSON.stringify(args) ?? "";
	const found = new Set<string>();
	let names = 0;
	for (let at = text.indexOf(".env"); at >= 0 && names < mostNames; at = text.indexOf(".env", at + 1)) {
		names++;
		let start = at;
		while (start > 0 && at - start < longestPath && !around.test(text[start - 1]!)) start--;
		let end = at + 1;
		while (end < text.length && end - at < longestPath && /[\w.-]/.test(text[end]!)) end++;
		found.add(text.slice(start, end));
	}
	return [...found].filter(isSecretFile);
}

/**
 * Knows what the model must not get to see: the session's own key, and the passwords in the `.env` files of the project
 * and of those that a call names. This keeps values out of the provider's hands by accident; it is no wall against a
 * model that means to find them.
 */
export class SecretStore {
	readonly #environment: ExecutionEnvironment;
	#secrets: Secret[] = [];
	#project: Promise<void> | undefined;

	/** `key`: the session's own. */
	constructor(environment: ExecutionEnvironment, key: string) {
		this.#environment = environment;
		if (key.length >= shortest) this.#secrets.push({ value: key, mark: "[redacted]" });
	}

	/** Learns the secrets of the project, once, and of the files that the arguments name. */
	async learn(args: unknown): Promise<void> {
		this.#project ??= this.#learnProject();
		await this.#project;
		for (const path of findSecretPaths(args)) await this.#learnFile(path);
	}

	/** The text with a mark in the place of each secret. */
	hide(text: string): string {
		let shown = text;
		for (const { value, mark } of this.#secrets) shown = shown.replaceAll(value, mark);
		return shown;
	}

	/** The mark of a secret among the arguments: who writes it into a file would lose the value. */
	findMark(args: unknown): string | undefined {
		const text = JSON.stringify(args) ?? "";
		return this.#secrets.find(({ mark }) => mark !== "[redacted]" && text.includes(mark))?.mark;
	}

	async #learnFile(path: string): Promise<void> {
		try {
			const status = await this.#environment.stat(path);
			if (status?.kind !== "file" || status.size > longestFile) return;
			const text = Buffer.from(await this.#environment.readFile(path)).toString("utf8");
			for (const { name, value } of readSecrets(text)) {
				if (this.#secrets.length >= mostSecrets) break;
				if (this.#secrets.some((known) => known.value === value)) continue;
				// The path of a file with a password in it is none.
				if (value.startsWith("/") && (await this.#environment.stat(value).catch(() => undefined))) continue;
				this.#secrets.push({ value, mark: `[secret ${name} not shown]` });
			}
			// The longest first: one secret may be a part of another.
			this.#secrets.sort((a, b) => b.value.length - a.value.length);
		} catch {
			// What cannot be read here cannot be read by the tool either, which tells why.
		}
	}

	async #learnProject(): Promise<void> {
		const here = await this.#environment.resolvePath(".");
		const above = (await listRepositoryFolders(this.#environment)) ?? [here];
		let level = [...above];
		let visited = 0;
		for (let depth = 0; depth < deepest; depth++) {
			const below: string[] = [];
			for (const folder of level) {
				if (++visited > mostFolders) return;
				const entries = await this.#environment.listDirectory(folder, 1).catch(() => []);
				for (const { path, kind } of entries) {
					if (kind !== "directory" && isSecretFile(path)) await this.#learnFile(join(folder, path));
					const isOpen = !path.startsWith(".") && path !== "node_modules";
					if (kind === "directory" && isOpen && folder.startsWith(here)) below.push(join(folder, path));
				}
			}
			level = below;
		}
	}
}
