import { UsageError } from "./errors.ts";
import { reportFailure } from "./faults.ts";
import { type Host, print } from "./host.ts";
import { type Intent, readIntent } from "./intent.ts";

const NO_INTERACTIVE =
	'The interactive mode is not there yet. Run a prompt with -p: prime-agent -p "What is in this folder?"';

/** Does what a command line asks for. Resolves with the exit code: 0, or 1 for every failure; never rejects. */
export async function runCommandLine(argv: readonly string[], host: Host): Promise<number> {
	try {
		return await start(readIntent(argv), host);
	} catch (error) {
		await reportFailure(error, "command line", host);
		return 1;
	}
}

async function start(intent: Intent, host: Host): Promise<number> {
	switch (intent.kind) {
		case "version":
			await print(host, `${host.version}\n`);
			return 0;
		case "help": {
			const { renderHelp } = await import("./help.ts");
			await print(host, intent.commands.map(renderHelp).join("\n"));
			return 0;
		}
		case "modelList": {
			const { runModelList } = await import("./model-list.ts");
			return runModelList(intent.isJson, host);
		}
		case "kernelStatus": {
			const { runKernelStatus } = await import("./kernel.ts");
			return runKernelStatus(intent.isJson, host);
		}
		case "kernelInstall": {
			const { runKernelInstall } = await import("./kernel.ts");
			return runKernelInstall(intent.request, host);
		}
		case "run": {
			const { runPromptCommand } = await import("./run-command.ts");
			return runPromptCommand(intent.request, host);
		}
		case "interactive": {
			const { checkSession } = await import("./run-command.ts");
			await checkSession(intent.request, host);
			throw new UsageError(NO_INTERACTIVE);
		}
	}
}
