import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createApproval, LineReader } from "./approve.ts";
import { cleanText } from "./output.ts";

function setUp() {
	const input = new PassThrough();
	let shown = "";
	const ask = createApproval(new LineReader(input, () => undefined), (text) => {
		shown += text;
		if (text.startsWith("Allow?")) answers.shift()?.();
	});
	const answers: (() => void)[] = [];
	return { input, ask, answers, shown: () => shown };
}

test("half a line that was typed before the question does not become its answer", async () => {
	const { input, ask, answers, shown } = setUp();
	input.write("y");
	answers.push(
		() => input.write("\n"),
		() => input.write("no\n"),
	);
	expect(await ask({ label: "shell", subject: "true" }, undefined)).toBe("no");
	expect(shown().match(/Allow\?/g)).toHaveLength(2);
});

test("a second line of one answer does not answer the next question", async () => {
	const { input, ask, answers } = setUp();
	answers.push(
		() => input.write("y\na\n"),
		() => input.write("n\n"),
	);
	expect(await ask({ label: "shell", subject: "one" }, undefined)).toBe("yes");
	expect(await ask({ label: "shell", subject: "two" }, undefined)).toBe("no");
});

test("nothing is read while no question is open", async () => {
	const { input, ask, answers } = setUp();
	expect(input.listenerCount("data")).toBe(0);
	answers.push(() => input.write("y\n"));
	await ask({ label: "shell", subject: "one" }, undefined);
	expect(input.isPaused()).toBe(true);
});

test("an input that has ended means no to every question", async () => {
	const { input, ask } = setUp();
	input.end();
	expect(await ask({ label: "shell", subject: "one" }, undefined)).toBe("no");
	expect(await ask({ label: "shell", subject: "two" }, undefined)).toBe("no");
});

test("text for a terminal keeps its line ends and tabs and loses other control signs", () => {
	expect(cleanText("a\tb\n\u001b[2J\u0007c\r\u009bd é 漢")).toBe("a\tb\n[2Jcd é 漢");
});
