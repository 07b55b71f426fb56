/** How many letters must be added, dropped, changed or swapped with their neighbour to turn one text into the other. */
export function editDistance(from: string, to: string): number {
	let older: number[] = [];
	let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
	for (let row = 1; row <= from.length; row++) {
		const current = [row];
		for (let column = 1; column <= to.length; column++) {
			const isSame = from[row - 1] === to[column - 1];
			let best = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (isSame ? 0 : 1));
			const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
			if (isSwap) best = Math.min(best, older[column - 2]! + 1);
			current.push(best);
		}
		older = previous;
		previous = current;
	}
	return previous[to.length]!;
}

/** Most words that a question names: of more, none can be meant. */
const MOST_WORDS = 3;

/** A question that names the words that are nearest, if any is near enough to be meant; ends in a blank. */
export function suggest(wanted: string, known: readonly string[]): string {
	const words = [...new Set(known)];
	const limit = Math.max(1, Math.floor(wanted.length / 3));
	const distances = words.map((word) => editDistance(wanted, word));
	const least = Math.min(...distances);
	const near = words.filter((_, index) => distances[index] === least && least <= limit);
	return near.length === 0 || near.length > MOST_WORDS
		? ""
		: `Did you mean ${near.map((word) => `"${word}"`).join(" or ")}? `;
}
