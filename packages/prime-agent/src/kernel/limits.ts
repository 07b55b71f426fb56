/** The settings `kernel.snapshot.*`; whoever reads the file checks them. */
export interface SnapshotSettings {
	/** Megabytes that one variable may take, 64 when not given; and all together, 256. */
	readonly variableMb?: number | undefined;
	readonly totalMb?: number | undefined;
	/** How many variables are saved, the oldest first; 10,000 when not given. */
	readonly variables?: number | undefined;
	/** How long a snapshot may take, 10 s when not given; and one variable of it, 2 s. */
	readonly timeoutMs?: number | undefined;
	readonly variableTimeoutMs?: number | undefined;
}

/** Bounds of one snapshot as a kernel takes them: bytes of a variable and of all, how many, seconds for all and for one. */
export interface SnapshotLimits {
	readonly variable: number;
	readonly total: number;
	readonly count: number;
	readonly seconds: number;
	readonly variableSeconds: number;
}

const MB = 1 << 20;

/** The bounds that settings ask for, with the usual ones for the rest. */
export function readLimits(settings: SnapshotSettings = {}): SnapshotLimits {
	const { variableMb = 64, totalMb = 256, variables = 10_000, timeoutMs = 10_000, variableTimeoutMs = 2000 } = settings;
	return {
		variable: Math.round(variableMb * MB),
		total: Math.round(totalMb * MB),
		count: Math.floor(variables),
		seconds: timeoutMs / 1000,
		variableSeconds: variableTimeoutMs / 1000,
	};
}
