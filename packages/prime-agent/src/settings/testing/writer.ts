/** Writes settings one after the other and says each one that is written: `<path of the file> <prefix> <count>`. */

import { writeSettings } from "../write.ts";

const [path = "", prefix = "", count = "0"] = process.argv.slice(2);
for (let index = 0; index < Number(count); index++) {
	await writeSettings(path, { [`${prefix}.n${index}`]: index });
	process.stdout.write(`${index}\n`);
}
