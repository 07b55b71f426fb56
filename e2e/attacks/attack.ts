/** Cells that try to break a kernel or its host, and what has to hold all the same. */
export interface Attack {
	/** What the cells do; unique. */
	readonly name: string;
	/** Run one after another, whatever becomes of each. */
	readonly cells: readonly string[];
	/** True where the attack may cost the kernel its life; otherwise the same process has to answer at the end. */
	readonly mayKill?: boolean;
	/** Time limit of each cell in milliseconds, for those that hang. */
	readonly limitMs?: number;
	/** Peak memory that the kernel process may reach, in MB; false where the attack itself takes more. */
	readonly kernelMb?: number | false;
	/** What the model has to read of the cells. */
	readonly says?: RegExp;
	/** What the model must never read. */
	readonly never?: RegExp;
	/** The back end that it is about; both when not given. */
	readonly only?: "builtin" | "ipykernel";
	/** False for those that take long or much: they run in the soak alone. */
	readonly inSuite?: boolean;
}
