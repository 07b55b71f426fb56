import { dirname, join } from "node:path";
import type { ExecutionEnvironment } from "./environment/environment.ts";

/** Instructions that a project keeps for agents. */
export interface ProjectDocument {
	/** Absolute. */
	path: string;
	content: string;
}

const budgetBytes = 32_768;
const cutMarker = "[Project instructions truncated at 32KB]";

/** The folders from the root of the Git repository down to the working directory; `undefined` outside of one. */
export async function listRepositoryFolders(environment: ExecutionEnvironment): Promise<string[] | undefined> {
	const folders: string[] = [];
	for (let current = await environment.resolvePath("."); ; current = dirname(current)) {
		folders.unshift(current);
		if (await environment.stat(join(current, ".git"))) return folders;
		if (dirname(current) === current) return undefined;
	}
}

/** The text of at most `bytes` bytes, cut between characters. */
function cutBytes(content: Uint8Array, bytes: number): string {
	let end = bytes;
	while (end > 0 && (content[end]! & 0xc0) === 0x80) end--;
	return Buffer.from(content.buffer, content.byteOffset, end).toString("utf8");
}

/**
 * Reads the project's instruction files with these names, outermost folder first, each content once. All together
 * take at most 32 KB; the one that is cut ends with a marker, later ones are left out. Unreadable files are skipped.
 */
export async function loadProjectDocuments(
	environment: ExecutionEnvironment,
	names: readonly string[],
): Promise<ProjectDocument[]> {
	const documents: ProjectDocument[] = [];
	const seen = new Set<string>();
	let left = budgetBytes;
	const folders = (await listRepositoryFolders(environment)) ?? [await environment.resolvePath(".")];
	for (const folder of folders) {
		for (const name of names) {
			const path = join(folder, name);
			const bytes = await readQuietly(environment, path);
			const content = bytes === undefined ? "" : Buffer.from(bytes).toString("utf8");
			if (bytes === undefined || content.trim() === "" || seen.has(content)) continue;
			seen.add(content);
			if (bytes.length > left) {
				documents.push({ path, content: `${cutBytes(bytes, left)}\n${cutMarker}` });
				return documents;
			}
			left -= bytes.length;
			documents.push({ path, content });
		}
	}
	return documents;
}

async function readQuietly(environment: ExecutionEnvironment, path: string): Promise<Uint8Array | undefined> {
	try {
		return (await environment.stat(path))?.kind === "file" ? await environment.readFile(path) : undefined;
	} catch {
		// A file that may not be read is no reason not to start; the agent meets the same refusal if it needs it.
		return undefined;
	}
}
