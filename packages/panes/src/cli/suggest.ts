/** The known name that differs from a word in at most two letters, or undefined. */
export function suggestName(word: string, known: readonly string[]): string | undefined {
	const near = known
		.map((name) => ({ name, distance: countEdits(word, name) }))
		.sort((a, b) => a.distance - b.distance)[0];
	return near !== undefined && near.distance <= 2 ? near.name : undefined;
}

/** Smallest number of letters to insert, drop or replace to turn one word into another. */
function countEdits(one: string, other: string): number {
	let row = Array.from({ length: other.length + 1 }, (_, index) => index);
	for (let at = 1; at <= one.length; at++) {
		const next = [at];
		for (let to = 1; to <= other.length; to++) {
			const replaced = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row[other.length] ?? 0;
}
