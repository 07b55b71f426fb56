import { isMistake } from "../lib/mistake.ts";
import { errorText } from "../lib/text.ts";
import { type Host, say } from "./host.ts";

/** Says that something failed; a mistake of the program is also written down. */
export async function reportFailure(error: unknown, during: string, host: Host): Promise<void> {
	if (!isMistake(error)) {
		say(host, `Error: ${errorText(error)}`);
		return;
	}
	await reportMistake(error, during, host);
}

/** Says that the program itself failed, writes it down and says where. Never rejects. */
export async function reportMistake(error: unknown, during: string, host: Host): Promise<void> {
	say(host, `Error: This is a mistake in prime-agent: ${errorText(error)}`);
	try {
		const program = await host.loadProgram();
		program.recordFault(during, error);
		sayFaultFile(program, host);
	} catch (cause) {
		say(host, `It could not be written down: ${errorText(cause)}`);
	}
}

/** Says where the details are of what went wrong, if anything did. */
export function sayFaultFile(program: { faultFile(): string | undefined }, host: Host): void {
	const file = program.faultFile();
	if (file !== undefined) say(host, `The details are in ${file}.`);
}
