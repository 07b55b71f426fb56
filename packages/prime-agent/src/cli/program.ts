import type { KernelInstalled, KernelReport } from "../protocol/kernel-report.ts";
import type { SessionPort } from "../protocol/session-port.ts";
import type { TextFile } from "../resources/context-files.ts";
import type { Settings } from "../settings/settings.ts";

/** A session to open, with everything that was found for it. */
export interface SessionRequest {
	readonly cwd: string;
	readonly session:
		| { readonly kind: "new"; readonly dir: string }
		| { readonly kind: "open"; readonly file: string }
		| { readonly kind: "memory" };
	/** Named on the command line. */
	readonly provider?: string | undefined;
	readonly model?: string | undefined;
	readonly apiKey?: string | undefined;
	readonly thinking?: string | undefined;
	readonly settings: Settings;
	readonly systemPrompt?: string | undefined;
	readonly appendSystemPrompt: readonly string[];
	readonly contextFiles: readonly TextFile[];
	readonly tools: readonly string[] | "all" | "none";
	readonly isDemo: boolean;
}

/** A line of the list of models. */
export interface ModelRow {
	readonly provider: string;
	readonly id: string;
	readonly name: string;
	readonly contextWindow: number;
	readonly maxTokens: number;
	readonly reasoning: boolean;
	readonly input: readonly string[];
	/** A run takes it that names no model and goes on with no session. */
	readonly isDefault: boolean;
	/** Kind of the key's source, for example `environment`. */
	readonly source: string;
	/** Where exactly: a variable or a file. Never the key. */
	readonly sourceLabel: string;
}

/** How the environment for the kernel is made. */
export interface KernelInstallation {
	readonly cwd: string;
	readonly settings: Settings;
	/** Make it with this interpreter. */
	readonly python?: string | undefined;
	/** Take packages from this folder of wheels only. */
	readonly wheels?: string | undefined;
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
	readonly say: (line: string) => void;
}

/** What the commands need from the rest of the program; loaded when the first of them asks. */
export interface Program {
	/**
	 * Opens a session. What a person should know on the way goes to `note`, also when it comes to nothing. Rejects with a
	 * message for people when there is no model, no key, or an unknown tool.
	 */
	openSession(request: SessionRequest, note: (line: string) => void): Promise<SessionPort>;
	/** Every model that has a key; `settings` say which of them is the default. */
	listModels(settings: Settings): Promise<{ readonly rows: readonly ModelRow[]; readonly notes: readonly string[] }>;
	/** Starts a kernel as a session would, and asks each interpreter what it has. */
	inspectKernel(settings: Settings, cwd: string, signal: AbortSignal): Promise<KernelReport>;
	/** Makes the environment for the kernel. Rejects with a message for people; nothing is changed then. */
	installKernel(installation: KernelInstallation): Promise<KernelInstalled>;
	/** Writes down a failure that should not have happened. Never throws. */
	recordFault(during: string, error: unknown): void;
	/** The file with such failures, once there is one of this process. */
	faultFile(): string | undefined;
}
