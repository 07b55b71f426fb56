import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { leaveOutUnusedResources } from "./unused.ts";

it("leaveOutUnusedResources keeps what asks the OpenAI SDK for a reply, and nothing else of its resources", async () => {
	const folder = await mkdtemp(join(tmpdir(), "unused-"));
	try {
		const bundled = async (plugins: (typeof leaveOutUnusedResources)[], name: string) => {
			const { metafile } = await build({
				stdin: {
					contents: 'import OpenAI from "openai"; export default new OpenAI({ apiKey: "none" });',
					resolveDir: resolve(import.meta.dirname, ".."),
				},
				bundle: true,
				format: "esm",
				platform: "node",
				outfile: join(folder, name),
				metafile: true,
				logLevel: "silent",
				plugins,
			});
			return Object.values(metafile.outputs)[0]?.bytes ?? 0;
		};
		await writeFile(join(folder, "package.json"), '{"type":"module"}');
		const whole = await bundled([], "whole.js");
		const less = await bundled([leaveOutUnusedResources], "less.js");
		expect(less).toBeLessThan(0.6 * whole);

		const { default: client } = await import(join(folder, "less.js"));
		expect(typeof client.chat.completions.create).toBe("function");
		expect(typeof client.responses.create).toBe("function");
		expect(client.files.create).toBeUndefined();
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});
