/** Waits until `condition` holds; fails after 30 s. */
export async function until(condition: () => boolean): Promise<void> {
	const deadline = Date.now() + 30_000;
	while (!condition()) {
		if (Date.now() > deadline) throw new Error("The condition did not come true in time.");
		await new Promise((resolve) => setImmediate(resolve));
	}
}
