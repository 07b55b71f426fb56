import type { IncomingHttpHeaders } from "node:http";

/** One request as it arrived. */
export interface RecordedRequest {
	readonly method: string;
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	/** The body as sent, byte for byte (UTF-8). */
	readonly raw: string;
	/** The body parsed, `undefined` when it is not JSON. */
	// biome-ignore lint/suspicious/noExplicitAny: tests read any shape out of it
	readonly body: any;
	/** `performance.now()` when the request's first byte was there. */
	readonly at: number;
	/** The rule that refused it. */
	rejected?: string;
}
