/** The known name that differs from a word in at most two letters. */
export function findSimilar(word: string, names: readonly string[]): string | undefined {
	return [1, 2].flatMap((edits) => names.filter((name) => isWithin(edits, word, name)))[0];
}

/** Whether so many letters inserted, dropped or replaced turn one word into the other. */
function isWithin(edits: number, one: string, other: string): boolean {
	if (one === other) return true;
	if (edits === 0) return false;
	let same = 0;
	while (one[same] === other[same]) same++;
	const [a, b] = [one.slice(same), other.slice(same)];
	return [
		[a.slice(1), b],
		[a, b.slice(1)],
		[a.slice(1), b.slice(1)],
	].some(([rest = "", otherRest = ""]) => isWithin(edits - 1, rest, otherRest));
}
