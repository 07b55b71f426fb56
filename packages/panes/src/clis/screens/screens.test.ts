import { describe, expect, it } from "vitest";
import { classify } from "../../screen/classify.ts";
import { listRecorded, readRecorded } from "../../testing/recorded.ts";
import { CLIS, findCli } from "../index.ts";

const screens = listRecorded();

/** In-between screens on which a prompt is not lost: the turn has failed and the composer is live. */
const LIVE_AFTER_ERROR = ["opencode api-error-esc", "pi api-error-esc"];

describe("recorded screens of real agent CLIs", () => {
	it("are 125 and belong to the eight CLIs with screen rules", () => {
		expect(screens.length).toBe(125);
		expect([...new Set(screens.map((screen) => screen.cli))].sort()).toEqual(
			CLIS.filter((cli) => cli.screen).map((cli) => cli.name),
		);
	});

	it.each(screens.map((screen) => [`${screen.cli} ${screen.name}`, screen.expected, screen] as const))(
		"%s is called %s, plain and styled",
		(title, expected, screen) => {
			for (const ending of ["txt", "ansi"] as const) {
				const verdict = classify(findCli(screen.cli)!.screen!, readRecorded(screen, ending));
				const said = `${verdict.word} (${verdict.rule}, ${ending})`;
				if (LIVE_AFTER_ERROR.includes(title)) expect(said).toMatch(/^ready/);
				else if (expected === "any") expect(said).not.toMatch(/^ready/);
				else expect(said).toMatch(new RegExp(`^${expected} `));
			}
		},
	);
});
