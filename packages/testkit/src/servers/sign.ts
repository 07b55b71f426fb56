/** Signatures that any mock server knows as issued by mock servers, bound to one model and one text. */

import { createHash } from "node:crypto";

/** The signature of a piece of thinking. */
export function signText(model: string, text: string): string {
	return Buffer.from(`mock-signature:${hash(model, text)}`).toString("base64");
}

/** Text that only the server can read: what was thought, hidden, for one model. */
export function sealText(model: string, text: string): string {
	return Buffer.from(`mock-sealed:${hash(model, text)}:${text}`).toString("base64");
}

/** True for text that a mock server sealed for this model. */
export function isSealedFor(model: string, sealed: string): boolean {
	const [label, mark, ...rest] = Buffer.from(sealed, "base64").toString("utf8").split(":");
	return label === "mock-sealed" && mark === hash(model, rest.join(":"));
}

function hash(model: string, text: string): string {
	return createHash("sha256").update(`${model}\0${text}`).digest("hex").slice(0, 32);
}
