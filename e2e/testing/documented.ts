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
];
