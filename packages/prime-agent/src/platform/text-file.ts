import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Most bytes of a text file that a start reads: far more than a person writes. */
const LIMIT = 4 * 1024 * 1024;

/**
 * The text of a small file of UTF-8. A project decides what lies under such a name, so a device that never ends and a
 * pipe that nobody writes to are refused instead of read.
 * @throws {Error} with the `code` of the system, or without one for what is no file or is too large.
 */
export function readTextFile(path: string): string {
	// Without this flag opening a pipe waits for its writer, and no signal would end that.
	const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		const stats = fstatSync(fd);
		if (stats.isDirectory()) throw new Error("it is a folder");
		if (!stats.isFile()) throw new Error("it is a device or a pipe, not a file");
		if (stats.size > LIMIT) throw new Error(`it has ${stats.size} bytes, more than the ${LIMIT} that are read`);
		return readFileSync(fd, "utf8");
	} finally {
		closeSync(fd);
	}
}
