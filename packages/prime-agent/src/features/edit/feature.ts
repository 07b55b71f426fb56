import { defineFeature } from "../../session/host.ts";
import { EDIT_PROMPT } from "./prompt.ts";

/** Tells the model about the skill that replaces text in files; the skill itself is Python and runs in the kernel. */
export const edit = defineFeature({
	name: "edit",
	setup(host) {
		host.registerPromptPart("skills", () => EDIT_PROMPT);
	},
});
