import type { SessionPort } from "../protocol/session-port.ts";
import type { Connection } from "./connection.ts";

/** Connects to a session of this process; closing the connection ends the session. */
export function connectInProcess(port: SessionPort): Connection {
	return {
		header: port.header,
		file: port.file,
		call: (operation, params, signal) => port.call(operation.name, params, "client", signal) as Promise<never>,
		subscribe: (listener) => port.subscribe(listener),
		close: () => port.dispose(),
	};
}
