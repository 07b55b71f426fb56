/** One call of agent-tmux that a text shows: its verb and the long flags that follow on the same line. */
export interface Mention {
	readonly verb: string;
	readonly flags: readonly string[];
}

/** All calls of agent-tmux in code spans and code blocks of a markdown text. */
export function findMentions(markdown: string): Mention[] {
	const blocks = [...markdown.matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm)].flatMap((match) =>
		(match[1] ?? "").split("\n"),
	);
	const prose = markdown.replace(/^```[a-z]*\n[\s\S]*?^```/gm, "");
	const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
	return [...blocks, ...spans].flatMap((text) =>
		[...text.matchAll(/(?:^|\s)(?:\.\/)?agent-tmux(?:\.sh)? ([a-z][a-z-]*)(.*)$/g)].map((match) => ({
			verb: match[1] ?? "",
			// What follows a bare -- belongs to the program that is started.
			flags: [...(match[2] ?? "").split(/ -- /)[0]!.matchAll(/(?<=\s|\[)--([a-z][a-z-]*)/g)].map(
				(flag) => flag[1] ?? "",
			),
		})),
	);
}
