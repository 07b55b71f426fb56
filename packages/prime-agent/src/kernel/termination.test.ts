import { join } from "node:path";
import { runProcess } from "@prime-agent/testkit";
import { expect, it } from "vitest";

const MODULE = join(import.meta.dirname, "termination.ts");

/** What a program says that watches, is sent SIGTERM and answers after it. */
function run(before: string) {
	const program = `
		import { watchTermination } from ${JSON.stringify(MODULE)};
		${before}
		const isTold = watchTermination();
		console.log(isTold());
		setTimeout(() => undefined, 600_000);
		process.on("exit", () => console.log(isTold()));
		process.kill(process.pid, "SIGTERM");
	`;
	return runProcess(process.execPath, ["--input-type=module", "-e", program]);
}

it("a program that handles SIGTERM is known to be ending once it got one", async () => {
	const both =
		'for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => setTimeout(() => process.exit(3)));';
	expect(await run(both)).toMatchObject({ code: 3, stdout: "false\ntrue\n" });
});

it("a program that does not handle SIGTERM is ended by it as before", async () => {
	expect(await run("")).toMatchObject({ code: null, signal: "SIGTERM", stdout: "false\n" });
});
