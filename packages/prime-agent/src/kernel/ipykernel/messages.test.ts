import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { JupyterSession } from "./messages.ts";

const session = new JupyterSession("key");

it("A message that was made is read back with its type and content", () => {
	const { frames } = session.make("execute_request", { code: "é" });
	expect(session.read([Buffer.from("identity"), ...frames])).toEqual({
		type: "execute_request",
		answers: "",
		content: { code: "é" },
	});
});

it("The signature is the HMAC of the four parts", () => {
	const { frames } = session.make("x", { a: 1 });
	const hash = createHmac("sha256", "key");
	for (const part of frames.slice(2)) hash.update(part);
	expect(String(frames[1])).toBe(hash.digest("hex"));
});

it("A message that was changed, signed with another key or cut short is refused", () => {
	const { frames } = session.make("x", { a: 1 });
	const changed = [...frames];
	changed[5] = Buffer.from('{"a":2}');
	expect(session.read(changed)).toBeUndefined();
	expect(new JupyterSession("other").read(frames)).toBeUndefined();
	expect(session.read(frames.slice(0, 5))).toBeUndefined();
	expect(session.read([])).toBeUndefined();
	expect(session.read([frames[0] as Buffer, Buffer.alloc(0), ...frames.slice(2)])).toBeUndefined();
});
