import { compile, type Validator } from "@earendil-works/pi-schema";
import { AgentError } from "../protocol/errors.ts";
import type { Door, Operation } from "../protocol/operation.ts";
import type { CallContext } from "./host.ts";

interface Row {
	readonly operation: Operation;
	readonly run: (params: unknown, context: CallContext) => unknown;
	params?: Validator;
	result?: Validator;
}

/** The operations that a session answers, whoever asks. */
export class OperationTable {
	readonly #rows = new Map<string, Row>();
	readonly #kernelNames = new Map<string, string>();

	/** Adds a handler. @throws {Error} when the operation has one already. */
	handle<P, R>(operation: Operation<P, R>, run: (params: P, context: CallContext) => R | Promise<R>): void {
		if (this.#rows.has(operation.name)) throw new Error(`Operation ${operation.name} has two handlers.`);
		this.#rows.set(operation.name, { operation: operation as Operation, run: run as Row["run"] });
		const kernelName = operation.names?.kernel;
		if (kernelName !== undefined) this.#kernelNames.set(kernelName, operation.name);
	}

	/** The operation's name behind a request that came out of the kernel. */
	kernelName(requestType: string): string {
		return this.#kernelNames.get(requestType) ?? requestType;
	}

	/**
	 * Checks door and params, runs the handler, checks its result.
	 * @throws {AgentError} `unknown_operation`, `invalid_params`, or whatever the handler throws.
	 */
	async call(name: string, params: unknown, context: CallContext): Promise<unknown> {
		const row = this.#rows.get(name);
		if (!row?.operation.doors.includes(context.door)) throw unknownOperation(name, context.door);
		row.params ??= compile(row.operation.params);
		const checked = row.params.validate(params);
		if (!checked.ok) {
			const reasons = checked.errors.map((error) => `${error.path || "params"}: ${error.message}`);
			throw new AgentError("invalid_params", `${name}: ${reasons.join("; ")}`);
		}
		const result = await row.run(checked.value, context);
		row.result ??= compile(row.operation.result);
		const errors = row.result.errors(result);
		if (errors.length > 0) throw new Error(`${name} answered wrongly: ${errors[0]!.path} ${errors[0]!.message}`);
		return result;
	}
}

function unknownOperation(name: string, door: Door): AgentError {
	return new AgentError("unknown_operation", `There is no operation "${name}" for a ${door}.`);
}
