import type { Rule } from "../rule.ts";

/** What a chat completions server refuses. */
export const chatRules: readonly Rule[] = [];
