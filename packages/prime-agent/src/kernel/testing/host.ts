import { createKernel } from "../index.ts";

/** A program that owns a kernel, for tests that kill it. Arguments: back end (`forked` for a forked one), folder, cell. */
export const HOST_PROGRAM: string = import.meta.filename;

async function main([backend, folder = "", code = ""]: readonly string[]): Promise<void> {
	const open = (artifactsDir: string) =>
		createKernel({
			cwd: folder,
			env: { HOME: folder, PATH: process.env.PATH, TMPDIR: folder },
			artifactsDir,
			settings: {
				backend: backend === "builtin" ? "builtin" : "ipykernel",
				python: process.env.PRIME_AGENT_TEST_PYTHON || undefined,
			},
		});
	if (backend === "forked") await open(`${folder}/first`).execute("x = 1");
	const kernel = open(`${folder}/session`);
	await kernel.execute("x = 1");
	process.stdout.write(`kernel ${kernel.info()?.pid}\n`);
	await kernel.execute(code, { onChunk: ({ text }) => process.stdout.write(text) });
	// the test ends this program, not the end of its work
	await new Promise((resolve) => setTimeout(resolve, 600_000));
}

if (process.argv[1] === HOST_PROGRAM) await main(process.argv.slice(2));
