/** The value of a promise, or `late` when it takes longer. */
export async function within<Value, Late>(promise: Promise<Value>, ms: number, late: Late): Promise<Value | Late> {
	let timer: NodeJS.Timeout | undefined;
	const end = new Promise<Late>((resolve) => {
		timer = setTimeout(() => resolve(late), ms);
	});
	try {
		return await Promise.race([promise, end]);
	} finally {
		clearTimeout(timer);
	}
}
