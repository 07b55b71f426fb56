// Exit code 0 when node_modules holds what the lockfile asks for. Runs on old versions of Node.js.
const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const root = process.argv[2];
const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8")).packages;
const wanted = read("package-lock.json");
const present = read("node_modules/.package-lock.json");
const isMissing = (path) => {
	if (path === "" || wanted[path].optional || !path.includes("node_modules/")) return false;
	return !present[path] || present[path].version !== wanted[path].version || !existsSync(join(root, path));
};

process.exit(Object.keys(wanted).some(isMissing) ? 1 : 0);
