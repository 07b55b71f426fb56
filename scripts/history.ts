/** A file, in how many commits it changed, and the file that changed most often in the same commits. */
export interface Companionship {
	path: string;
	count: number;
	partner?: { path: string; count: number };
}

/** The `limit` files that change most often, from commits given as lists of paths. */
export function countTogether(commits: string[][], limit: number): Companionship[] {
	const counts = new Map<string, Map<string, number>>();
	for (const paths of commits) {
		for (const path of paths) {
			const seen = counts.get(path) ?? new Map<string, number>();
			counts.set(path, seen);
			for (const other of paths) seen.set(other, (seen.get(other) ?? 0) + 1);
		}
	}
	const files = [...counts].map(([path, seen]): Companionship => {
		const partner = [...seen].filter(([other]) => other !== path).sort(byCount)[0];
		const count = seen.get(path) ?? 0;
		return partner ? { path, count, partner: { path: partner[0], count: partner[1] } } : { path, count };
	});
	return files.sort((a, b) => b.count - a.count || a.path.localeCompare(b.path)).slice(0, limit);
}

function byCount(a: [string, number], b: [string, number]): number {
	return b[1] - a[1] || a[0].localeCompare(b[0]);
}
