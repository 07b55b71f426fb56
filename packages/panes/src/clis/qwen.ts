import type { AgentCli } from "./cli.ts";
import { qwenScreen } from "./screens/qwen.ts";

/** Qwen Code, as seen in 0.24.4. */
export const qwen: AgentCli = {
	name: "qwen",
	processes: ["qwen"],
	interactive: "qwen -y -m {model}",
	headless: `sh -c 'qwen -y -m {model} -p "$(cat)"'`,
	fills: {},
	promptChannel: "argument",
	structured: "-o stream-json",
	resume: "qwen -y -r {id}",
	oneShot: ["-p", "--prompt"],
	discovery: ["qwen --version", "qwen --help"],
	skillPrefix: "/",
	screen: qwenScreen,
	keys: { interrupt: ["Escape"], queue: "C-q" },
	literal: {},
	walls: [],
	quirks: ["A positional prompt makes it a one-shot run.", "While a turn runs Enter steers and Ctrl+Q queues."],
};
