import { signText as sign } from "../sign.ts";

/** What a client sends in place of a signature that it has not, as the documentation of the API allows. */
const STANDINS = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** The signature on the last text of a reply. */
export function signText(model: string): string {
	return sign(model, "gemini-text");
}

/** The signature on the first call of a reply. */
export function signCall(model: string, call: { readonly name?: unknown; readonly args?: unknown }): string {
	return sign(model, `gemini-call ${String(call.name)} ${JSON.stringify(call.args)}`);
}

/** True for a signature on a part that a mock server issued for this model, or an allowed stand-in. */
export function isIssued(model: string, signature: string, call: Record<string, unknown> | undefined): boolean {
	return STANDINS.includes(signature) || signature === (call ? signCall(model, call) : signText(model));
}
