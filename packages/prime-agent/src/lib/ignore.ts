/** Takes note of failures that do not matter; the program's log listens. */
type Sink = (error: unknown, why: string) => void;

let sink: Sink | undefined;

/** Says where ignored failures go; without a sink they are dropped. */
export function setIgnoreSink(next: Sink | undefined): void {
	sink = next;
}

/** Marks a failure as harmless; `why` says for what reason. */
export function ignore(error: unknown, why: string): void {
	sink?.(error, why);
}
