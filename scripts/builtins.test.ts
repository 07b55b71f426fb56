import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { takeBuiltinsLazily } from "./builtins.ts";

it("takeBuiltinsLazily keeps what every form of import binds, and leaves all other imports alone", async () => {
	const source = `#!/usr/bin/env node
import path from "node:path";
import * as os from "os";
import fs, { existsSync as exists, statSync } from "node:fs";
import { other } from "./other.mjs";
export { sep } from "node:path";
const text = 'import { x } from "node:zlib"';
export default [path.join("a", "b"), typeof os.tmpdir, fs.existsSync === exists, typeof statSync, other, text];
`;
	const result = await takeBuiltinsLazily(source);
	const left = result.split("\n").filter((line) => /^\s*import\b.*from/.test(line));
	expect(left).toEqual(['import { other } from "./other.mjs";']);
	expect(result.startsWith("#!/usr/bin/env node\n")).toBe(true);

	const folder = await mkdtemp(join(tmpdir(), "builtins-"));
	try {
		await writeFile(join(folder, "other.mjs"), "export const other = 1;\n");
		await writeFile(join(folder, "main.mjs"), result);
		const loaded = (await import(join(folder, "main.mjs"))) as { default: unknown; sep: string };
		const expected = ["a/b", "function", true, "function", 1, 'import { x } from "node:zlib"'];
		expect(loaded.default).toEqual(expected);
		expect(loaded.sep).toBe("/");
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});
