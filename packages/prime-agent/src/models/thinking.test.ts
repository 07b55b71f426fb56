import type { Api, Model } from "@earendil-works/pi-ai";
import { expect, it } from "vitest";
import { describeThinking } from "./thinking.ts";

const model = (more: Partial<Model<Api>>) => ({ provider: "p", id: "m", reasoning: true, ...more }) as Model<Api>;

it("says that a model does not think when it was asked to, and nothing when it was asked not to", async () => {
	const plain = model({ reasoning: false });
	expect(await describeThinking(plain, "low")).toMatch(/^p\/m does not think, so --thinking low changes nothing\./);
	expect(await describeThinking(plain, "off")).toBeUndefined();
});

it("names the level that a model takes instead of one that it does not know", async () => {
	const some = model({ thinkingLevelMap: { off: null, low: null } });
	expect(await describeThinking(some, "max")).toBe(
		"p/m cannot think at the level max and takes high; it knows minimal, medium, high.",
	);
	expect(await describeThinking(some, "off")).toMatch(/takes minimal;/);
	expect(await describeThinking(some, "high")).toBeUndefined();
});
