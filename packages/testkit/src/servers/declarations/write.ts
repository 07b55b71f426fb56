/** Writes the field lists of all formats anew from the installed SDKs: run it after an update of one of them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FormatName, formatTypes, readSdkTypes, SOURCES } from "./sources.ts";

for (const format of Object.keys(SOURCES) as FormatName[]) {
	const file = join(import.meta.dirname, "../generated", `${format}.json`);
	writeFileSync(file, formatTypes(readSdkTypes(format)));
	console.log(`wrote ${file}`);
}
