/** What is kept of one record; no reader needs more of a line. */
const longestRecord = 1024 * 1024;

/** Collects one record that may come in many chunks. */
class Collector {
	#parts: Buffer[] = [];
	#size = 0;

	add(part: Buffer): void {
		const kept = part.subarray(0, Math.max(0, longestRecord - this.#size));
		if (kept.length > 0) this.#parts.push(kept);
		this.#size += kept.length;
	}

	take(): Buffer {
		const record = Buffer.concat(this.#parts);
		this.#parts = [];
		this.#size = 0;
		return record;
	}
}

/** The records of a stream that end with the byte `separator`, each cut after a megabyte; an unfinished last one is dropped. */
export async function* splitRecords(stream: AsyncIterable<Buffer>, separator: number): AsyncGenerator<Buffer> {
	const collector = new Collector();
	for await (const chunk of stream) {
		let from = 0;
		for (let end = chunk.indexOf(separator); end >= 0; end = chunk.indexOf(separator, from)) {
			collector.add(chunk.subarray(from, end));
			yield collector.take();
			from = end + 1;
		}
		collector.add(chunk.subarray(from));
	}
}
