#!/usr/bin/env node
import { runMain } from "./cli/main.ts";
import { makeProcessWorld } from "./cli/world.ts";

process.exitCode = await runMain(process.argv.slice(2), makeProcessWorld());
