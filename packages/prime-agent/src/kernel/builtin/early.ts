import { ignore } from "../../lib/ignore.ts";
import { type Guardian, type GuardianProgram, hangUp, spawnGuardian } from "./guardian.ts";

/** Variables that a process reads only when it starts: what was started with others is of no use. */
const READ_AT_START = /^(LD_|DYLD_|LC_|LANG|GLIBC_|MALLOC_)/;

let ending: Promise<void> = Promise.resolve();
let waiting: { readonly key: string; readonly guardian: Guardian } | undefined;

/** Names the kernels that are alike but for their session: its folder, and what else its environment says. */
export function keyOf({ python, words, env }: Omit<GuardianProgram, "cwd">): string {
	const read = Object.entries(env).filter(([name]) => READ_AT_START.test(name));
	return JSON.stringify([python, words, read.sort()]);
}

/** Starts a kernel that loads and waits for its session; at most one in this process. */
export function startEarly(program: GuardianProgram): void {
	if (waiting) return;
	const guardian = spawnGuardian({ ...program, words: [...program.words, "--wait"] });
	for (const line of [guardian.wire, guardian.report, guardian.stderr]) {
		line.on("error", (error) => ignore(error, "whoever takes it over hears how it ended"));
	}
	waiting = { key: keyOf(program), guardian };
}

/** Gives this session the kernel that waits, if it is of that kind; one of another kind is ended. */
export function takeEarly(program: GuardianProgram): Guardian | undefined {
	const early = waiting;
	if (!early) return undefined;
	if (early.key !== keyOf(program)) {
		void dropEarly();
		return undefined;
	}
	waiting = undefined;
	const { cwd, env } = program;
	early.guardian.wire.write(`${JSON.stringify({ op: "begin", cwd, env })}\n`);
	return early.guardian;
}

/** Ends the kernel that waits, if there is one, and resolves when nothing of it is left. */
export function dropEarly(): Promise<void> {
	const early = waiting;
	waiting = undefined;
	if (early) ending = Promise.all([ending, hangUp(early.guardian)]).then(() => undefined);
	return ending;
}
