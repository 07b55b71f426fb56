/** One damaged stream and what was done to it. */
export interface Mutation {
	chunks: Uint8Array[];
	/** The damage in words; empty when the bytes are as they were. */
	damage: string[];
}

type Change = (chunks: Uint8Array[], random: () => number) => string;

/**
 * Damages a stream as networks and servers do: chunks are split anywhere, and up to three times the stream is cut, or a
 * chunk is doubled, lost or swapped with another. The same seed does the same to the same chunks; some seeds only split.
 */
export function mutateChunks(chunks: readonly Uint8Array[], seed: number): Mutation {
	const random = createRandom(seed);
	const changed = [...chunks];
	const damage: string[] = [];
	for (let count = Math.floor(random() * 4); count > 0 && changed.length > 1; count--) {
		damage.push(pick(changes, random)(changed, random));
	}
	return { chunks: changed.flatMap((chunk) => splitChunk(chunk, random)), damage };
}

const changes: readonly Change[] = [
	(chunks, random) => {
		const index = Math.floor(random() * chunks.length);
		const chunk = chunks[index] ?? new Uint8Array();
		const at = Math.floor(random() * chunk.length);
		chunks.splice(index, chunks.length, chunk.slice(0, at));
		return `cut in chunk ${index} at byte ${at}`;
	},
	(chunks, random) => {
		const index = Math.floor(random() * chunks.length);
		chunks.splice(index, 0, chunks[index] ?? new Uint8Array());
		return `doubled chunk ${index}`;
	},
	(chunks, random) => {
		const index = Math.floor(random() * chunks.length);
		chunks.splice(index, 1);
		return `lost chunk ${index}`;
	},
	(chunks, random) => {
		const from = Math.floor(random() * chunks.length);
		const to = Math.floor(random() * chunks.length);
		const [moved] = chunks.splice(from, 1);
		if (moved) chunks.splice(to, 0, moved);
		return `moved chunk ${from} to ${to}`;
	},
];

function splitChunk(chunk: Uint8Array, random: () => number): Uint8Array[] {
	const pieces: Uint8Array[] = [];
	let rest = chunk;
	while (rest.length > 1 && random() < 0.7) {
		const at = 1 + Math.floor(random() * (rest.length - 1));
		pieces.push(rest.slice(0, at));
		rest = rest.slice(at);
	}
	return [...pieces, rest];
}

function pick<T>(list: readonly T[], random: () => number): T {
	return list[Math.floor(random() * list.length)] as T;
}

/** Mulberry32: small, even enough, and the same everywhere. */
function createRandom(seed: number): () => number {
	let state = seed | 0;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
