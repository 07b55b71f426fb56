import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { runProcess, tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { readPromptBytes } from "./prompt-file.ts";

const never = new AbortController().signal;

async function makePipe(): Promise<string> {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const path = join(home.path, "pipe");
	execFileSync("mkfifo", [path]);
	return path;
}

it.skipIf(process.platform === "win32")("refuses a device that never ends", async () => {
	await expect(readPromptBytes("/dev/zero", never)).rejects.toThrow("@/dev/zero is larger than 32 MB.");
});

it.skipIf(process.platform === "win32")("refuses a pipe without a writer at once", async () => {
	await expect(readPromptBytes(await makePipe(), never)).rejects.toThrow("nobody writes to it");
});

it.skipIf(process.platform === "win32")("waits for a writer who is slow, until it is called off", async () => {
	const path = await makePipe();
	const writer = await open(path, "r+");
	onTestFinished(() => writer.close());
	await writer.write("early");
	const stop = new AbortController();
	const reading = readPromptBytes(path, stop.signal);
	stop.abort(new Error("enough"));
	await expect(reading).rejects.toThrow("enough");
});

it.skipIf(process.platform === "win32")("reads all that a program writes, pauses included", async () => {
	const script = `import { readPromptBytes } from ${JSON.stringify(join(import.meta.dirname, "prompt-file.ts"))};
console.log(String(await readPromptBytes(process.argv[1], new AbortController().signal)));`;
	const line = '"$0" --input-type=module -e "$1" <(printf "first "; sleep 0.2; printf last)';
	const { stdout, stderr } = await runProcess("bash", ["-c", line, process.execPath, script]);
	expect({ stdout, stderr }).toEqual({ stdout: "first last\n", stderr: "" });
});
