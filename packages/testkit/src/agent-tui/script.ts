import { fileURLToPath } from "node:url";

/**
 * Path of the fake agent TUI, a program for `node`: a composer, turns, walls and their faults, with what it really
 * received as JSON lines in its `--log`. Its other options are in `options.ts`.
 */
export const fakeAgentPath: string = fileURLToPath(new URL("./main.ts", import.meta.url));
