import { resolve } from "node:path";
import { agentFolder, expandHome } from "../platform/paths.ts";
import type { InterpreterReport, KernelReport } from "../protocol/kernel-report.ts";
import { readSettings, type Settings } from "../settings/settings.ts";
import { UsageError } from "./errors.ts";
import { type Host, print, say } from "./host.ts";

/** What `kernel install` was told. */
export interface KernelInstallRequest {
	readonly python?: string | undefined;
	readonly wheels?: string | undefined;
	/** Seconds, as it was written. */
	readonly timeout?: string | undefined;
}

const TIMEOUT_S = 600;

/** Says which kernel a session here would get, and why; resolves with the exit code, 1 when it would get none. */
export async function runKernelStatus(isJson: boolean, host: Host): Promise<number> {
	const program = await host.loadProgram();
	const status = await program.inspectKernel(settingsOf(host), host.cwd, host.signal);
	await print(host, isJson ? `${JSON.stringify(status, null, "\t")}\n` : renderStatus(status));
	return status.kernel ? 0 : 1;
}

/** Makes the environment for the kernel; resolves with the exit code. */
export async function runKernelInstall(request: KernelInstallRequest, host: Host): Promise<number> {
	const seconds = Number(request.timeout ?? TIMEOUT_S);
	if (!(seconds > 0 && seconds <= 86_400)) {
		throw new UsageError(`--timeout takes seconds, more than 0 and at most 86400, not "${request.timeout}".`);
	}
	const program = await host.loadProgram();
	const made = await program.installKernel({
		cwd: host.cwd,
		settings: settingsOf(host),
		python: request.python && expandHome(request.python, host.env),
		wheels: request.wheels && resolve(host.cwd, expandHome(request.wheels, host.env)),
		timeoutMs: seconds * 1000,
		signal: host.signal,
		say: (line) => say(host, line),
	});
	const from = made.source === "packages" ? "of its own" : `of ${made.base}`;
	const lines = [
		`The environment for the kernel is ready: ${made.folder}`,
		`It has Python ${made.version} and ipykernel ${made.ipykernel} ${from}.`,
		...(made.why === undefined ? [] : [`Packages of its own could not be had: ${made.why}`]),
		...(made.missing.length > 0 ? [`It lacks ${made.missing.join(", ")}, which cells may want.`] : []),
		...(made.notes.length > 0 ? made.notes : ["Sessions that start from now on use it."]),
	];
	await print(host, `${lines.join("\n")}\n`);
	return 0;
}

function settingsOf(host: Host): Settings {
	const { settings, warnings } = readSettings(agentFolder(host.env), host.cwd, host.env);
	for (const warning of warnings) say(host, `Warning: ${warning}`);
	return settings;
}

function renderStatus(status: KernelReport): string {
	const { kernel, interpreters, environments, installing } = status;
	const lines = kernel
		? [
				`Kernel: ${kernel.backend === "builtin" ? "built-in" : "ipykernel"} on ${kernel.python} (Python ${kernel.version})`,
			]
		: ["Kernel: none can start"];
	lines.push(status.reason, "");
	lines.push(`Environment for the kernel: ${environments.join(" or ")}`);
	if (installing) lines.push(`It is being installed by process ${installing.pid}, since ${installing.since}.`);
	lines.push(
		"",
		interpreters.length > 0 ? "Interpreters, in the order in which they are tried:" : "No Python was found.",
	);
	for (const one of interpreters) {
		const version = one.version === null ? "" : `Python ${one.version}; `;
		lines.push(`  ${one.python} (${KINDS[one.kind]})`, `    ${version}${one.unfit ?? describeFit(one)}`);
	}
	return `${lines.join("\n")}\n`;
}

const KINDS = { explicit: "named by you", managed: "made for the kernel", installed: "installed" };

function describeFit({ ipykernel, lacked, packages }: InterpreterReport): string {
	const parts = [lacked ?? `has ipykernel ${ipykernel}`];
	if (packages.length > 0) parts.push(packages.join(", "));
	return parts.join("; ");
}
