import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A temporary folder that disappears with `await using`. */
export interface TestFolder extends AsyncDisposable {
	/** Absolute and real. */
	path: string;
	/** Writes files with their folders and gives the folder back. */
	write(files: Record<string, string | Uint8Array>): Promise<TestFolder>;
}

/** Makes an empty temporary folder. */
export async function makeFolder(): Promise<TestFolder> {
	const path = await realpath(await mkdtemp(join(tmpdir(), "toolset-")));
	const folder: TestFolder = {
		path,
		async write(files) {
			for (const [name, content] of Object.entries(files)) {
				await mkdir(dirname(join(path, name)), { recursive: true });
				await writeFile(join(path, name), content);
			}
			return folder;
		},
		[Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
	};
	return folder;
}
