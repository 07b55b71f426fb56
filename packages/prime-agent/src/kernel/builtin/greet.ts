import { ignore } from "../../lib/ignore.ts";
import { errorText } from "../../lib/text.ts";
import type { KernelInfo } from "../../session/ports.ts";
import { complaintOf } from "../complaint.ts";
import { JsonLines } from "../lines.ts";
import type { KernelLink, LinkOptions } from "../link.ts";
import { type Guardian, hangUp } from "./guardian.ts";
import { BuiltinLink, type BuiltinProcess } from "./link.ts";
import { type Line, type Message, PROTOCOL, text } from "./messages.ts";
import { WireLine } from "./wire.ts";

/** A kernel that runs, or what was lacking; `permanent`: the interpreter will not do at any other time either. */
export type Greeted = { readonly link: KernelLink } | { readonly lacked: string; readonly permanent: boolean };

/** The exit code by which the runtime says that this interpreter will not do; see its `__main__.py`. */
const UNUSABLE = 64;
const START_MS = 30_000;
const COMPLAINT_CHARS = 8192;

/** Waits until a kernel greets and can be used; one that does not is ended. `startMs`: how long it may take. */
export async function awaitGreeting(
	guardian: Guardian,
	options: LinkOptions & { readonly startMs?: number },
): Promise<Greeted> {
	const { wire, report, stderr } = guardian;
	const { promise, resolve } = Promise.withResolvers<Greeted>();
	const over = new AbortController();
	let complaint = "";
	stderr.setEncoding("utf8").on("data", (text: string) => {
		complaint = (complaint + text).slice(-COMPLAINT_CHARS);
	});
	const fail = async (lacked: string, permanent: boolean) => {
		over.abort(new Error(lacked));
		await hangUp(guardian);
		resolve({ lacked, permanent });
	};
	let connecting: Promise<Line> | undefined;
	const greet = (message: Message) => {
		if (message.op === "bound" && !connecting) {
			connecting = connect(message, over.signal);
			connecting.catch((error) => fail(errorText(error), false));
			return;
		}
		if (message.op !== "hello" || message.protocol !== PROTOCOL) {
			void fail("its runtime speaks another protocol than this program", false);
			return;
		}
		const info: KernelInfo = {
			backend: message.backend === "ipykernel" ? "ipykernel" : "builtin",
			python: String(message.python),
			version: String(message.version),
			pid: Number(message.pid),
		};
		wire.off("data", read);
		const begin = (line: Line) => {
			const saidLast = () => text(complaint).trim();
			const running: BuiltinProcess = { guardian, line, mark: text(message.mark), complaint: saidLast };
			resolve({ link: new BuiltinLink(running, info, options) });
		};
		if (info.backend === "builtin") begin(new WireLine(wire));
		else if (connecting) connecting.then(begin, () => undefined);
		else void fail("its kernel did not say how it is reached", false);
	};
	const lines = new JsonLines(greet, (reason) => fail(`its kernel sent ${reason}`, false));
	const read = (data: Buffer) => lines.push(data);
	wire.on("data", read);
	for (const line of [wire, report]) line.on("error", (error) => ignore(error, "the exit of the process says why"));
	void guardian.closed.then(({ code, error }) => {
		if (error) return fail(`cannot be started: ${errorText(error)}`, false);
		const how = code === undefined ? "it ended" : `it ended with exit code ${code}`;
		const said = text(complaint).trim() || `${how} before it was ready`;
		return fail(code === UNUSABLE ? said : complaintOf(said), code === UNUSABLE);
	});
	const timer = setTimeout(() => fail("it did not answer in time", false), options.startMs ?? START_MS);
	const onAbort = () => fail("the start was called off", false);
	options.signal.addEventListener("abort", onAbort, { once: true });
	if (options.signal.aborted) onAbort();
	try {
		return await promise;
	} finally {
		clearTimeout(timer);
		options.signal.removeEventListener("abort", onAbort);
	}
}

async function connect(bound: Message, signal: AbortSignal): Promise<Line> {
	// loaded late: few kernels need it
	const { connectKernel, readConnection } = await import("../ipykernel/line.ts");
	const connection = readConnection(bound.connection);
	if (!connection) throw new Error("its kernel did not say how it is reached");
	return await connectKernel(connection, signal);
}
