import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../../../..");
// Below node_modules, because the bundle finds what it does not contain from its own place.
const cache = join(root, "node_modules/.cache/agent-test");
const keptMs = 3_600_000;
let built: Promise<string> | undefined;

async function buildOnce(): Promise<string> {
	const { outputFiles } = await build({
		entryPoints: { main: join(root, "packages/agent/src/main.ts") },
		outdir: cache,
		outExtension: { ".js": ".mjs" },
		write: false,
		bundle: true,
		splitting: true,
		format: "esm",
		platform: "node",
		target: "node22.19",
		external: ["@vscode/ripgrep"],
		banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
		logLevel: "error",
	});
	const hash = createHash("sha256");
	for (const file of outputFiles) hash.update(file.path).update(file.contents);
	const folder = join(cache, hash.digest("hex").slice(0, 16));
	if (!existsSync(folder)) {
		const work = join(cache, `new-${randomUUID()}`);
		await mkdir(work, { recursive: true });
		await Promise.all(outputFiles.map((file) => writeFile(join(work, basename(file.path)), file.contents)));
		// Another test file may have been quicker with the same build.
		await rename(work, folder).catch(() => rm(work, { recursive: true }));
		await removeOld();
	}
	return join(folder, "main.mjs");
}

async function removeOld(): Promise<void> {
	for (const name of await readdir(cache)) {
		const path = join(cache, name);
		const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
		if (age > keptMs) await rm(path, { recursive: true, force: true });
	}
}

/** The command as one bundle, built once per test file: it starts in a third of the time of its sources. */
export function bundleAgent(): Promise<string> {
	built ??= buildOnce();
	return built;
}
