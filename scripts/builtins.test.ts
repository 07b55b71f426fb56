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

it("takeBuiltinsLazily takes a function of a heavy module at its call, unless something else is done with it", async () => {
	const result = await takeBuiltinsLazily(`import { execFile, spawn as start } from "node:child_process";
import { constants, readFile as read } from "node:fs/promises";
import { createHash, Hash } from "node:crypto";
export const run = promisify(execFile);
export default [start("true"), new Hash("md5"), createHash("sha1"), constants, [read]];
`);
	const taken = result.split(";").filter((part) => part.includes("getBuiltinModule"));
	expect(taken.map((part) => part.trim())).toEqual([
		'const start=(...a)=>process.getBuiltinModule("node:child_process").spawn(...a)',
		'const{execFile}=process.getBuiltinModule("node:child_process")',
		'const read=(...a)=>process.getBuiltinModule("node:fs/promises").readFile(...a)',
		'const{constants}=process.getBuiltinModule("node:fs/promises")',
		'const createHash=(...a)=>process.getBuiltinModule("node:crypto").createHash(...a)',
		'const{Hash}=process.getBuiltinModule("node:crypto")',
	]);
});
