import type { AssistantMessage } from "@earendil-works/pi-ai";
import { classifyFailure, isContextOverflow, type ProviderFailure, retryDelay } from "@prime-agent/loop";
import type { Turn, Verdict } from "../../session/boundary.ts";
import { defineFeature, type FeatureHost } from "../../session/host.ts";
import { CLOCK, MODEL, SETTINGS } from "../../session/ports.ts";
import { readOverflowPatterns } from "../compaction/state.ts";
import { isRefusedCredential, RefusedCredentials } from "./auth.ts";
import { type RetryPolicy, readRetryPolicy } from "./state.ts";

const PASS: Verdict = { kind: "pass" };
const CANCELLED = "Retry cancelled";

/** Sends a failed request again when it may succeed later, after a wait that grows, and says so. */
export const retry = defineFeature({
	name: "retry",
	setup(host) {
		const retries = new Retries(host);
		host.on("run_end", () => retries.giveUp());
		host.atBoundary("recover", (turn) => retries.recover(turn));
	},
});

/** One more attempt: after how long, and how many attempts there can be at most if it fails in the same way. */
interface Plan {
	readonly delayMs: number;
	readonly maxAttempts: number;
}

/** The failures in a row of one run. */
class Retries {
	readonly #host: FeatureHost;
	readonly #refused: RefusedCredentials;
	/** Retries since the last reply that came. */
	#attempt = 0;
	#last: AssistantMessage | undefined;

	constructor(host: FeatureHost) {
		this.#host = host;
		this.#refused = new RefusedCredentials(host);
	}

	async recover({ message, failed, signal }: Turn): Promise<Verdict> {
		if (!failed) {
			this.#succeed();
			return PASS;
		}
		if (signal.aborted || message.stopReason === "aborted") return this.#stop(CANCELLED);
		this.#last = message;
		const plan = await this.#planRetry(message);
		if (plan === undefined) return this.#stop(message.errorMessage);
		return this.#wait(plan, signal);
	}

	/** The run is over, whoever ended it. */
	async giveUp(): Promise<void> {
		await this.#stop(this.#last?.errorMessage);
	}

	#succeed(): void {
		if (this.#attempt > 0) this.#host.emit("auto_retry_end", { success: true, attempt: this.#attempt });
		this.#attempt = 0;
		this.#last = undefined;
		this.#refused.forget();
	}

	async #stop(finalError = "The model failed without a message."): Promise<Verdict> {
		const [attempt, last] = [this.#attempt, this.#last];
		this.#attempt = 0;
		this.#last = undefined;
		if (attempt > 0) this.#host.emit("auto_retry_end", { success: false, attempt, finalError });
		if (last) await this.#refused.giveUp(last);
		return PASS;
	}

	/** The next attempt, or undefined when there is none. */
	async #planRetry(message: AssistantMessage): Promise<Plan | undefined> {
		const failure = classifyFailure(message);
		if (!failure) return undefined;
		if (isRefusedCredential(failure)) {
			const isRepeated = this.#refused.has(message.provider);
			await this.#refused.note(message.provider);
			// A key may have been renewed meanwhile: the next request looks for it anew, but only one.
			if (isRepeated) return undefined;
			const delayMs = this.#delay({ ...failure, permanent: false });
			return delayMs === undefined ? undefined : { delayMs, maxAttempts: this.#attempt + 1 };
		}
		if (isFinal(message) || this.#isOverflow(message)) return undefined;
		const delayMs = this.#delay(failure);
		return delayMs === undefined ? undefined : { delayMs, maxAttempts: this.#policy.maxRetries };
	}

	get #policy(): RetryPolicy {
		const settings = this.#host.port(SETTINGS);
		return readRetryPolicy((path) => settings.get(path));
	}

	#delay(failure: ProviderFailure): number | undefined {
		const policy = this.#policy;
		if (!policy.enabled) return undefined;
		const delayMs = retryDelay(failure, this.#attempt + 1, policy);
		const { retryAfterMs: asked } = failure;
		const isTooLong = asked !== undefined && policy.maxRetryDelayMs > 0 && asked > policy.maxRetryDelayMs;
		if (delayMs === undefined && isTooLong && !failure.permanent) {
			const [seconds, limit] = [asked, policy.maxRetryDelayMs].map((ms) => Math.round(ms / 1_000));
			this.#host.notify(
				"warning",
				`The server asks to wait ${seconds} s; the setting retry.provider.maxRetryDelayMs allows ${limit} s. Not retried.`,
			);
		}
		return delayMs;
	}

	/** A longer wait does not make a request shorter; compaction does. */
	#isOverflow(message: AssistantMessage): boolean {
		const window = this.#host.port(MODEL).current()?.contextWindow ?? 0;
		const patterns = readOverflowPatterns(this.#host.port(SETTINGS).get("compaction.overflowPatterns"));
		return isContextOverflow(message, window, patterns.usable);
	}

	async #wait({ delayMs, maxAttempts }: Plan, signal: AbortSignal): Promise<Verdict> {
		this.#attempt++;
		this.#host.emit("auto_retry_start", {
			attempt: this.#attempt,
			maxAttempts,
			delayMs,
			errorMessage: this.#last?.errorMessage ?? "",
		});
		try {
			await this.#host.port(CLOCK).sleep(delayMs, signal);
		} catch (error) {
			if (!signal.aborted) throw error;
		}
		return signal.aborted ? this.#stop(CANCELLED) : { kind: "again", dropReply: true };
	}
}

/** Failures that are no provider's: a script that has ended, a session that ended under the request. */
function isFinal({ diagnostics = [], errorMessage = "" }: AssistantMessage): boolean {
	return (
		diagnostics.some((diagnostic) => diagnostic.type === "agent_lifecycle_failure") ||
		errorMessage.includes("No more faux responses queued")
	);
}
