import { agentFolder } from "../platform/paths.ts";
import { readSettings } from "../settings/settings.ts";
import { type Host, print, say } from "./host.ts";
import type { ModelRow } from "./program.ts";

/** Prints the models that have a key; resolves with the exit code. */
export async function runModelList(isJson: boolean, host: Host): Promise<number> {
	const program = await host.loadProgram();
	const { settings, warnings } = readSettings(agentFolder(host.env), host.cwd, host.env);
	const { rows, notes } = await program.listModels(settings);
	for (const note of [...warnings.map((warning) => `Warning: ${warning}`), ...notes]) say(host, note);
	await print(host, isJson ? `${JSON.stringify(rows, null, "\t")}\n` : renderTable(rows));
	return 0;
}

const HEADINGS = ["provider", "model", "context", "max out", "thinking", "images", "key from", ""];

function renderTable(rows: readonly ModelRow[]): string {
	if (rows.length === 0) return "";
	const lines = [HEADINGS, ...rows.map(cells)];
	const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
	return lines
		.map(
			(line) =>
				`${line
					.map((cell, column) => cell.padEnd(widths[column]!))
					.join("  ")
					.trimEnd()}\n`,
		)
		.join("");
}

function cells(row: ModelRow): string[] {
	return [
		row.provider,
		row.id,
		formatCount(row.contextWindow),
		formatCount(row.maxTokens),
		row.reasoning ? "yes" : "no",
		row.input.includes("image") ? "yes" : "no",
		row.sourceLabel,
		row.isDefault ? "default" : "",
	];
}

function formatCount(count: number): string {
	if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`;
	return count >= 1_000 ? `${Math.round(count / 1_000)}K` : String(count);
}
