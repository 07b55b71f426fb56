/** Where an agent runs: its folder, its processes and the environment that moves its files. */
export interface RecordPlace {
	readonly cwd: string;
	/** Process ids of the pane, the pane's own first. */
	readonly pids: readonly number[];
	/** Command lines of those processes. */
	readonly cmdlines: readonly string[];
	readonly env: NodeJS.ProcessEnv;
}

/** What the record says: a turn runs, none runs, or a person is asked. */
export type RecordWord = "busy" | "idle" | "waiting";

/** Reads what an agent CLI writes about its own turns; nothing here looks at a screen. */
export interface RecordReader {
	/** The file or address of the session that runs at a place, by identity and never by content; else undefined. */
	find(place: RecordPlace): Promise<string | undefined>;
	/** The state that the record states outright; undefined when it holds no such event. */
	read(source: string): Promise<RecordWord | undefined>;
	/** Id of the session that the source records, to resume it. */
	sessionId?(source: string): Promise<string | undefined>;
}
