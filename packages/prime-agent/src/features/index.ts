import type { AnyFeature } from "../session/host.ts";
import { compaction } from "./compaction/feature.ts";
import { edit } from "./edit/feature.ts";
import { goal } from "./goal/feature.ts";
import { ipython } from "./ipython/feature.ts";
import { retry } from "./retry/feature.ts";

/** Every built-in feature. The order is the order in which features speak within a phase. */
export const FEATURES: readonly AnyFeature[] = [ipython, edit, compaction, retry, goal];
