import { dropEarly, keyOf } from "./early.ts";
import type { ForkRequest, ForkServer } from "./fork-server.ts";
import type { Guardian, GuardianProgram } from "./guardian.ts";

/** What the kernels of one interpreter come from. */
interface Source {
	/** Kernels that were started here. */
	started: number;
	server?: Promise<ForkServer | undefined> | undefined;
	/** A server did not start, or ended by itself: there will be no other. */
	isOff: boolean;
}

/** What the kernels of this process share; nothing is left of it when the last of them is closed. */
const sources = new Map<string, Source>();
let users = 0;

/**
 * Forks kernels on ipykernel: the first of an interpreter is started from nothing, and when another one is wanted beside
 * or after it, a fork server is started, from which that one and all further ones come.
 */
export class Forks {
	#isOpen = true;
	readonly #isOn: boolean;

	/** To be closed by its owner. `isOn` false: forks nothing. */
	constructor(isOn: boolean) {
		// elsewhere libraries of the system are known to break in forked processes
		this.#isOn = isOn && process.platform === "linux";
		users += 1;
	}

	/** A kernel of this interpreter runs or has run. */
	count(program: GuardianProgram): void {
		findSource(program).started += 1;
	}

	/** Whether another kernel of this interpreter would be forked. */
	has(program: GuardianProgram): boolean {
		const { started, isOff } = findSource(program);
		return this.#isOn && this.#isOpen && started > 0 && !isOff;
	}

	/** A guardian whose kernel is starting; undefined where one has to be started from nothing. */
	async fork(program: GuardianProgram, request: ForkRequest): Promise<Guardian | undefined> {
		const source = findSource(program);
		source.server ??= startServer(program);
		const server = await source.server;
		const guardian = await server?.fork(request);
		if (!guardian && !request.signal.aborted) await this.distrust(program);
		return guardian;
	}

	/** What was forked could not be used: from now on kernels are started from nothing. */
	async distrust(program: GuardianProgram): Promise<void> {
		const source = findSource(program);
		const { server } = source;
		source.isOff = true;
		source.server = undefined;
		await (await server)?.close();
	}

	/** With the last one the servers end. */
	async close(): Promise<void> {
		if (!this.#isOpen) return;
		this.#isOpen = false;
		users -= 1;
		if (users > 0) return;
		const servers = [...sources.values()].flatMap(({ server }) => server ?? []);
		sources.clear();
		await Promise.all([dropEarly(), ...servers.map(async (server) => (await server)?.close())]);
	}
}

async function startServer(program: GuardianProgram): Promise<ForkServer | undefined> {
	// loaded late: most programs have one kernel
	const { ForkServer } = await import("./fork-server.ts");
	return ForkServer.start(program);
}

function findSource(program: GuardianProgram): Source {
	const key = keyOf(program);
	let source = sources.get(key);
	if (!source) {
		source = { started: 0, isOff: false };
		sources.set(key, source);
	}
	return source;
}
