/** How the test of the documents runs one command that an `sh` block shows. */
export type DocumentedCommand = { command: string } & (
	| {
			/** What runs instead, by a shell in the clone's folder, with a home of its own; the command itself if true. */
			run: string | true;
			/** What it has to write to stdout. */
			shows: RegExp;
	  }
	| { leftOut: string }
);

/** Every command in an `sh` block of README.md, CONTRIBUTING.md and docs/guide: a new one needs its line here. */
export const documentedCommands: DocumentedCommand[] = [
	{ command: "./prime-agent.sh --version", run: true, shows: /^\d+\.\d+\.\d+\n$/ },
	{ command: "./test.sh", leftOut: "it would run the suite inside the suite" },
	{
		command: 'export PATH="$PWD/node_modules/node/bin:$PWD/node_modules/.bin:$PATH"',
		run: 'export PATH="$PWD/node_modules/node/bin:$PWD/node_modules/.bin:$PATH"; command -v vitest',
		shows: /node_modules\/\.bin\/vitest\n$/,
	},
	{
		command: './prime-agent.sh --demo -p "What is in this folder?"',
		run: true,
		shows: /holds \d+ files/,
	},
	{ command: "export ANTHROPIC_API_KEY=sk-ant-...", leftOut: "it only sets a variable" },
	{
		command: './prime-agent.sh -p "Summarize this repository and tell me how to run its checks."',
		leftOut: "it needs a key; e2e/cli.test.ts runs the same against a mock",
	},
	{ command: './prime-agent.sh -c -p "Now run them."', leftOut: "it needs a key; e2e/cli.test.ts runs the same" },
	{
		command: './prime-agent.sh --provider openai --model gpt-5.4 -p "List the open TODOs by file."',
		leftOut: "it needs a key",
	},
	{
		command: "./prime-agent.sh model list",
		run: "OPENAI_API_KEY=sk-test ./prime-agent.sh model list",
		shows: /openai/,
	},
	{
		command: 'git diff | ./prime-agent.sh -p "Review this change."',
		run: 'git diff | ./prime-agent.sh --demo -p "Review this change."',
		shows: /holds \d+ files/,
	},
	{
		command: './prime-agent.sh -p @README.md "What is missing here?"',
		run: './prime-agent.sh --demo -p @README.md "What is missing here?"',
		shows: /holds \d+ files/,
	},
	{
		command: './prime-agent.sh --mode json -p "List the files." > events.jsonl',
		run: './prime-agent.sh --demo --mode json -p "List the files."',
		shows: /^\{"type":"session"/,
	},
	{ command: "prime-agent kernel status", run: "./prime-agent.sh kernel status", shows: /^Kernel: / },
	{
		command: "prime-agent kernel install",
		run: "./prime-agent.sh kernel install --help",
		shows: /--wheels <dir>/,
	},
	withHelp("./agent-tmux.sh launch builder --cwd ~/project -- codex --dangerously-bypass-approvals-and-sandbox"),
	withHelp('./agent-tmux.sh send-wait builder "Run the tests and tell me what fails."'),
	withHelp("./agent-tmux.sh kill builder"),
	withHelp("agent-tmux map --all-sessions"),
	withHelp("agent-tmux open --provider codex -c ~/project"),
	withHelp("agent-tmux ready %5"),
	withHelp("agent-tmux deliver %5 --prompt-file task.md"),
	withHelp("agent-tmux await %5 --until idle,waiting --timeout 600"),
	withHelp('agent-tmux send %5 "one more thing"'),
	withHelp("agent-tmux dispatch open fix-42 apply < prompt.md"),
	withHelp("agent-tmux dispatch ready fix-42 apply"),
	withHelp("agent-tmux dispatch deliver fix-42 apply"),
	withHelp("agent-tmux dispatch wait fix-42 apply --timeout 1800"),
	withHelp("agent-tmux dispatch reap fix-42 apply"),
];

/** A command that needs a running agent: its help has to exist and to know the options that are shown. */
function withHelp(command: string): DocumentedCommand {
	const [, verb = ""] = command.split(" ");
	const options = [...(command.split(" -- ")[0] ?? "").matchAll(/ (--[a-z-]+)/g)].map((match) => match[1] ?? "");
	return {
		command,
		run: `./agent-tmux.sh ${verb} --help`,
		shows: new RegExp([`agent-tmux ${verb}`, ...options].map((word) => `(?=[\\s\\S]*${word})`).join("")),
	};
}
