/** What one interpreter is good for. */
export interface InterpreterReport {
	readonly python: string;
	/** `explicit`: the user named it; `managed`: of the environment made for the kernel; `installed`: of the machine. */
	readonly kind: "explicit" | "managed" | "installed";
	readonly version: string | null;
	/** Version of its ipykernel, also of one that is not supported. */
	readonly ipykernel: string | null;
	/** Why no kernel can run on it. */
	readonly unfit: string | null;
	/** Why no ipykernel can run on it. */
	readonly lacked: string | null;
	/** Those of the usual packages that it has. */
	readonly packages: readonly string[];
}

/** What a session that starts now would run its cells on, and why; the shape of `kernel status --json`. */
export interface KernelReport {
	/** Null when no kernel can start. */
	readonly kernel: {
		readonly backend: "builtin" | "ipykernel";
		readonly python: string;
		readonly version: string;
	} | null;
	readonly reason: string;
	/** Folders in which an environment made for the kernel is looked for. */
	readonly environments: readonly string[];
	/** Those that were asked, in the order in which they are tried. */
	readonly interpreters: readonly InterpreterReport[];
	/** The process that is installing right now; ISO 8601. */
	readonly installing: { readonly pid: number; readonly since: string } | null;
}

/** The environment that was made. */
export interface KernelInstalled {
	readonly folder: string;
	/** The interpreter that it was made with. */
	readonly base: string;
	readonly version: string;
	readonly ipykernel: string;
	/** Whose packages it has: its own, or those of `base`; then `why` says what went wrong. */
	readonly source: "packages" | "system";
	readonly why?: string;
	/** Usual packages that it lacks. */
	readonly missing: readonly string[];
	/** What keeps sessions from using it. */
	readonly notes: readonly string[];
}
