import {
	closeSync,
	fstatSync,
	openSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	readSync,
	realpathSync,
	statSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ignore } from "../../ignore.ts";

const TAIL_BYTES = 256 * 1024;

/** The home folder that an environment names. */
export function homeOf(env: NodeJS.ProcessEnv): string {
	return env.HOME || homedir();
}

/** Files that the given processes hold open, as far as this machine shows them. */
export function listOpenFiles(pids: readonly number[]): string[] {
	return pids.flatMap((pid) => {
		const folder = `/proc/${pid}/fd`;
		return attempt(() => readdirSync(folder), []).flatMap((name) => {
			const path = attempt(() => readlinkSync(join(folder, name)), undefined);
			return path?.startsWith("/") ? [path] : [];
		});
	});
}

/** Files below a folder, `depth` levels down, whose names match; the newest first. */
export function listNewest(folder: string, depth: number, name: RegExp, limit: number): string[] {
	const found: { path: string; time: number }[] = [];
	const visit = (at: string, level: number) => {
		for (const entry of attempt(() => readdirSync(at, { withFileTypes: true }), [])) {
			const path = join(at, entry.name);
			if (level > 0 && entry.isDirectory()) visit(path, level - 1);
			else if (level === 0 && entry.isFile() && name.test(entry.name)) {
				found.push({ path, time: attempt(() => statSync(path).mtimeMs, 0) });
			}
		}
	};
	visit(folder, depth);
	return found
		.sort((a, b) => b.time - a.time)
		.slice(0, limit)
		.map((file) => file.path);
}

/** The first line of a file, however long; undefined when it cannot be read. */
export function readFirstLine(path: string): string | undefined {
	return attempt(() => {
		const file = openSync(path, "r");
		try {
			let text = "";
			const buffer = Buffer.alloc(8192);
			for (let at = 0; ; ) {
				const size = readSync(file, buffer, 0, buffer.length, at);
				text += buffer.toString("latin1", 0, size);
				const end = text.indexOf("\n");
				if (end >= 0 || size === 0) return Buffer.from(end < 0 ? text : text.slice(0, end), "latin1").toString("utf8");
				at += size;
			}
		} finally {
			closeSync(file);
		}
	}, undefined);
}

/** A whole small file as text; undefined when it cannot be read. */
export function readAll(path: string): string | undefined {
	return attempt(() => readFileSync(path, "utf8"), undefined);
}

/** The whole lines in the last part of a file, the last first; empty when it cannot be read. */
export function readLastLines(path: string): string[] {
	return attempt(() => {
		const file = openSync(path, "r");
		try {
			const { size } = fstatSync(file);
			const start = Math.max(0, size - TAIL_BYTES);
			const buffer = Buffer.alloc(size - start);
			readSync(file, buffer, 0, buffer.length, start);
			const lines = buffer.toString("utf8").split("\n");
			// What stands after the last line end is still being written, what stands before the first may be cut.
			lines.pop();
			if (start > 0) lines.shift();
			return lines.reverse();
		} finally {
			closeSync(file);
		}
	}, []);
}

/** Size and identity of a file, to see whether it grew or was replaced; undefined when it cannot be read. */
export function readStamp(path: string): { readonly size: number; readonly inode: number } | undefined {
	return attempt(() => {
		const { size, ino } = statSync(path);
		return { size, inode: ino };
	}, undefined);
}

/** Whether two paths are the same folder on disk. */
export function isSameFolder(one: string, other: string): boolean {
	const real = (path: string) => attempt(() => realpathSync(path), path);
	return real(one) === real(other);
}

/** A JSON object, or undefined for anything else. */
export function parseObject(line: string | undefined): Record<string, unknown> | undefined {
	if (line === undefined) return undefined;
	const value = attempt(() => JSON.parse(line) as unknown, undefined);
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** A file of another program may be absent, foreign or vanish at any moment; then there is no record. */
function attempt<Value, Fallback>(read: () => Value, fallback: Fallback): Value | Fallback {
	try {
		return read();
	} catch (error) {
		ignore(error, "there is no such record");
		return fallback;
	}
}
