import { readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { waitFor } from "@prime-agent/testkit";
import { describe, expect, it } from "vitest";
import { makeClone } from "./testing/clone.ts";

const firstLine = (stdout: string) => JSON.parse(stdout.split("\n")[0] ?? "") as Record<string, unknown>;
const ready = "prime-agent: installing the dependencies (once per lockfile)\n";
const building = "prime-agent: building packages/prime-agent (sources are newer than the bundle)\n";

/** Makes a file newer than everything that was written before. */
async function touch(path: string): Promise<void> {
	const soon = new Date(Date.now() + 5);
	await utimes(path, soon, soon);
}

describe("a start from a fresh clone", () => {
	it("sets up what is missing, says each thing in one line on stderr and runs the program", async () => {
		await using clone = await makeClone();
		const result = await clone.run(["-p", "two words", ""], { cwd: clone.elsewhere });
		expect(result).toMatchObject({ code: 0, stderr: ready + building });
		expect(firstLine(result.stdout)).toMatchObject({ args: ["-p", "two words", ""], cwd: clone.elsewhere });
	});

	it("says and does nothing the second time, and starts no program to find that out", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		const before = await clone.calls();
		const result = await clone.run(["again"]);
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(await clone.calls()).toEqual(before);
	});

	it("installs once and works twice when two start at the same time", async () => {
		await using clone = await makeClone();
		const results = await Promise.all([clone.run(["one"]), clone.run(["two"])]);
		expect(results.map((result) => result.code)).toEqual([0, 0]);
		expect((await clone.calls()).filter((call) => call.startsWith("ci"))).toHaveLength(1);
	});

	it("waits for a start that is setting up, and says so", async () => {
		await using clone = await makeClone();
		await clone.set("npm-waits", true);
		await using first = clone.start(["one"]);
		await first.waitForOutput(/installing/, { stream: "stderr" });
		await using second = clone.start(["two"]);
		await second.waitForOutput(/another start is setting up; waiting for it\n/, { stream: "stderr" });
		await clone.set("npm-waits", false);
		for (const live of [first, second]) {
			live.endInput();
			expect((await live.done).code).toBe(0);
		}
	});

	it("takes over from a start that was killed in the middle", async () => {
		await using clone = await makeClone();
		await clone.set("npm-waits", true);
		await using first = clone.start(["one"]);
		await waitFor(async () => (await clone.calls()).some((call) => call.startsWith("ci")), "npm to be called");
		first.kill("SIGKILL", "group");
		await first.done;
		await clone.set("npm-waits", false);
		expect(await clone.run(["two"])).toMatchObject({ code: 0, stderr: ready + building });
	});

	it("fails with npm's words and the command that helps when the dependencies cannot be installed", async () => {
		await using clone = await makeClone();
		await clone.set("npm-fails", true);
		const result = await clone.run([]);
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toContain("npm error: registry not reachable");
		expect(result.stderr).toContain(`prime-agent: try: cd '${clone.path}' && npm ci\n`);
		await clone.set("npm-fails", false);
		expect((await clone.run([])).code).toBe(0);
	});
});

describe("the launcher", () => {
	it.each([
		["an absolute", (target: string) => target],
		["a relative", (target: string, from: string) => relative(from, target)],
	])("works through %s symbolic link", async (_kind, link) => {
		await using clone = await makeClone();
		const target = join(clone.path, "prime-agent.sh");
		await symlink(link(target, clone.elsewhere), join(clone.elsewhere, "prime"));
		const result = await clone.run(["x"], { program: join(clone.elsewhere, "prime"), cwd: clone.elsewhere });
		expect(firstLine(result.stdout)).toMatchObject({ args: ["x"], cwd: clone.elsewhere });
	});

	it("leaves the caller's input to the program", async () => {
		await using clone = await makeClone();
		await using live = clone.start([]);
		live.write("typed before the set-up ended");
		live.endInput();
		expect((await live.done).stdout).toContain("lazy 1 typed before the set-up ended");
	});

	it("builds again when a source is newer than the bundle", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		await clone.write("packages/prime-agent/src/lazy.ts", 'export const lazy: string = "lazy 2";\n');
		await touch(join(clone.path, "packages/prime-agent/src/lazy.ts"));
		const result = await clone.run([]);
		expect(result.stderr).toBe(building);
		expect(result.stdout).toContain("lazy 2");
	});

	it("builds again when the Python runtime is newer, and carries it along", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		await clone.write("prime-agent-runtime/src/rlm/kernel.py", "# kernel 2\n");
		await touch(join(clone.path, "prime-agent-runtime/src/rlm/kernel.py"));
		expect((await clone.run([])).stderr).toBe(building);
		const dist = join(clone.path, "packages/prime-agent/dist");
		const { id } = JSON.parse(await readFile(join(dist, "build.json"), "utf8")) as { id: string };
		expect(await readFile(join(dist, id, "runtime/rlm/kernel.py"), "utf8")).toBe("# kernel 2\n");
	});

	it("keeps the last bundle and shows the fault when the sources cannot be built", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		await clone.write("packages/prime-agent/src/lazy.ts", "export const lazy = (;\n");
		await touch(join(clone.path, "packages/prime-agent/src/lazy.ts"));
		const result = await clone.run([]);
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toContain("lazy.ts:1");
		expect(result.stderr).toContain(`prime-agent: try: cd '${clone.path}' && npm run build\n`);
		expect((await clone.run(["--dist"])).stdout).toContain("lazy 1");
	});

	it("lets a running program load the rest of its own build after a new one was made", async () => {
		await using clone = await makeClone();
		await using live = clone.start([]);
		await live.waitForOutput(/"version":1/);
		await clone.write("packages/prime-agent/src/lazy.ts", 'export const lazy: string = "lazy 2";\n');
		await touch(join(clone.path, "packages/prime-agent/src/lazy.ts"));
		expect((await clone.run([])).stdout).toContain("lazy 2");
		live.endInput();
		expect((await live.done).stdout).toContain("lazy 1");
	});

	it("leaves nothing half-made beside the builds", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		const left = await readdir(join(clone.path, "packages/prime-agent/dist"));
		expect(left.filter((name) => !/^[0-9a-f]{12}$/.test(name)).sort()).toEqual(["build.json", "main.js"]);
	});

	it("installs again when the lockfile changed", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		const lock = JSON.parse(await readFile(join(clone.path, "package-lock.json"), "utf8"));
		lock.packages["node_modules/esbuild"].version = "99.0.0";
		await clone.write("package-lock.json", JSON.stringify(lock));
		expect((await clone.run([])).stderr).toContain(ready);
	});

	it("takes dependencies that were installed by hand as they are", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		await rm(join(clone.path, "node_modules/.launch"));
		expect((await clone.run([])).stderr).toBe("");
		expect((await clone.calls()).filter((call) => call.startsWith("ci"))).toHaveLength(1);
	});

	it("installs again when the dependencies were removed", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		await rm(join(clone.path, "node_modules"), { recursive: true });
		expect((await clone.run([])).stderr).toBe(ready);
	});
});

describe("the launcher's choice of Node.js", () => {
	it("takes the one on PATH when that is new enough", async () => {
		await using clone = await makeClone();
		expect(firstLine((await clone.run([])).stdout)).toMatchObject({ exec: process.execPath });
		expect(await readFile(join(clone.path, ".cache/launch/node"), "utf8")).toContain(`${process.execPath}\n`);
	});

	it("takes the one among the dependencies when that on PATH is older", async () => {
		await using clone = await makeClone();
		await clone.set("old-node", true);
		expect(await clone.run([])).toMatchObject({ code: 0, stderr: ready + building });
		expect((await clone.calls()).filter((call) => call.startsWith("install"))).toEqual([]);
	});

	it("fetches the platform's package when the install script of `node` did not run", async () => {
		await using clone = await makeClone();
		await clone.set("old-node", true);
		await clone.set("no-scripts", true);
		const result = await clone.run([]);
		const fetching = "prime-agent: fetching Node.js 22.99.0 (the one here is too old)\n";
		expect(result).toMatchObject({ code: 0, stderr: ready + fetching + building });
		expect((await clone.calls()).at(-1)).toContain(`${process.platform}-${process.arch}@22.99.0`);
	});

	it("fails with the command that helps when no new enough Node.js can be had", async () => {
		await using clone = await makeClone();
		await clone.set("old-node", true);
		await clone.set("no-scripts", true);
		await clone.run([], { env: { FAKE_NODE: "/nonexistent/node" } });
		const result = await clone.run([], { env: { FAKE_NODE: "/nonexistent/node" } });
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toContain("try: ");
	});

	it("looks again when PATH gives another one", async () => {
		await using clone = await makeClone();
		await clone.run([]);
		const other = join(clone.elsewhere, "node");
		await symlink(process.execPath, other);
		await clone.run([], { env: { PATH: `${clone.elsewhere}:${clone.env.PATH}` } });
		expect(await readFile(join(clone.path, ".cache/launch/node"), "utf8")).toBe(`${other}\n${process.execPath}\n`);
	});
});

describe("the launcher's options", () => {
	it("--source runs the sources without a bundle", async () => {
		await using clone = await makeClone();
		const result = await clone.run(["--source", "x"]);
		expect(result).toMatchObject({ code: 0, stderr: ready });
		expect(firstLine(result.stdout)).toMatchObject({ args: ["x"] });
		expect(await readdir(join(clone.path, "packages/prime-agent"))).not.toContain("dist");
	});

	it("--dist runs the bundle as it is and fails with the command that helps when there is none", async () => {
		await using clone = await makeClone();
		const result = await clone.run(["--dist"]);
		expect(result.code).toBe(1);
		expect(result.stderr).toContain(`there is no bundle yet\nprime-agent: try: cd '${clone.path}' && npm run build\n`);
		await clone.run([]);
		await clone.write("packages/prime-agent/src/lazy.ts", 'export const lazy: string = "lazy 2";\n');
		await touch(join(clone.path, "packages/prime-agent/src/lazy.ts"));
		expect((await clone.run(["--dist"])).stdout).toContain("lazy 1");
	});

	it("--no-env takes provider keys out of the environment and nothing else", async () => {
		await using clone = await makeClone();
		const env = { SOME_API_KEY: "value\nOTHER_API_KEY=odd" };
		expect(firstLine((await clone.run([], { env })).stdout)).toMatchObject({ key: env.SOME_API_KEY });
		const { stdout } = await clone.run(["--no-env", "x"], { env });
		expect(firstLine(stdout)).toMatchObject({ key: null, home: clone.env.HOME, args: ["x"] });
	});

	it("counts only as the first argument", async () => {
		await using clone = await makeClone();
		const args = ["x", "--source", "--dist", "--no-env"];
		expect(firstLine((await clone.run(args)).stdout)).toMatchObject({ args });
	});
});

describe("the lock of the set-up", () => {
	it("is free again after a failed start", async () => {
		await using clone = await makeClone();
		await clone.set("npm-fails", true);
		await clone.run([]);
		await writeFile(join(clone.path, ".cache/launch/lock"), "left over");
		await clone.set("npm-fails", false);
		expect(await clone.run([])).toMatchObject({ code: 0, stderr: ready + building });
	});
});
