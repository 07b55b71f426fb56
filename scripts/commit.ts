import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The commit that a folder is at, with `+` when files differ from it, or null where git cannot tell. */
export async function readCommit(folder: string): Promise<string | null> {
	const git = (...args: string[]) => promisify(execFile)("git", ["-C", folder, ...args]);
	try {
		const { stdout: commit } = await git("rev-parse", "--short=12", "HEAD");
		const { stdout: changes } = await git("status", "--porcelain", "--untracked-files=no");
		return commit.trim() + (changes.trim() === "" ? "" : "+");
	} catch {
		return null;
	}
}
