import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identifyProcess, isAlive } from "./identity.ts";
import { acquireLease, LeaseHeldError } from "./lease.ts";

const folder = () => mkdtempSync(join(tmpdir(), "lease-"));

/** Takes the lease in another process, says so, and waits to be killed. */
async function takeElsewhere(dir: string, id: string) {
	const module = new URL("./lease.ts", import.meta.url).href;
	const code = `import { acquireLease } from ${JSON.stringify(module)}; try { acquireLease(${JSON.stringify(dir)}, ${JSON.stringify(id)}); console.log("taken"); } catch (error) { console.log(error.name); } setInterval(() => {}, 1000);`;
	const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const [said] = (await once(child.stdout, "data")) as [Buffer];
	return { child, said: said.toString().trim() };
}

test("a lease that a living process has is refused, and the refusal names the process", async () => {
	const dir = folder();
	const { child, said } = await takeElsewhere(dir, "s");
	expect(said).toBe("taken");
	expect(() => acquireLease(dir, "s")).toThrow(LeaseHeldError);
	expect(() => acquireLease(dir, "s")).toThrow(`process ${child.pid}`);
	child.kill("SIGKILL");
	await once(child, "exit");
});

test("a lease whose owner was killed is taken over", async () => {
	const dir = folder();
	const { child } = await takeElsewhere(dir, "s");
	child.kill("SIGKILL");
	await once(child, "exit");
	acquireLease(dir, "s").release();
	expect(readdirSync(dir)).toEqual([]);
});

test("of many processes that find a dead owner's lease exactly one gets it", async () => {
	const dir = folder();
	writeFileSync(join(dir, "s.json"), JSON.stringify({ ...identifyProcess(process.pid), startTicks: 1, since: "x" }));
	const others = await Promise.all(Array.from({ length: 4 }, () => takeElsewhere(dir, "s")));
	expect(others.map((other) => other.said).filter((said) => said === "taken")).toHaveLength(1);
	for (const { child } of others) child.kill("SIGKILL");
	await Promise.all(others.map(({ child }) => once(child, "exit")));
});

test("a process number that another process has by now does not keep a lease alive", () => {
	const mine = identifyProcess(process.pid);
	expect(isAlive(mine)).toBe(true);
	if (mine.startTicks === null) return;
	expect(isAlive({ ...mine, startTicks: mine.startTicks + 1 })).toBe(false);
	expect(isAlive({ ...mine, bootId: "another boot" })).toBe(false);
});

test("a lease file that holds nothing readable belongs to nobody", () => {
	const dir = folder();
	writeFileSync(join(dir, "s.json"), "");
	acquireLease(dir, "s").release();
	writeFileSync(join(dir, "s.json"), "{half");
	acquireLease(dir, "s").release();
});

test("giving back a lease leaves alone what somebody else put in its place", () => {
	const dir = folder();
	const lease = acquireLease(dir, "s");
	writeFileSync(join(dir, "s.json"), "another");
	lease.release();
	expect(readFileSync(join(dir, "s.json"), "utf8")).toBe("another");
});

test("drafts that killed processes left are removed, those of living ones and of other leases stay", async () => {
	const dir = folder();
	const { child } = await takeElsewhere(dir, "t");
	child.kill("SIGKILL");
	await once(child, "exit");
	const others = [`s.json.${process.ppid}.draft`, `u.json.${child.pid}.draft`, "s.json.notes"];
	for (const name of [...others, `s.json.${child.pid}.draft`, `s.json.takeover.${child.pid}.draft`]) {
		writeFileSync(join(dir, name), "{}");
	}
	acquireLease(dir, "s").release();
	expect(readdirSync(dir).sort()).toEqual([...others, "t.json"].sort());
});
