import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDrive } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer } from "../testing/tmux-server.ts";
import { type Dispatch, filesOf, openWorker, waitWorker } from "./worker.ts";

const worker = { key: "k1", stage: "apply" };

describe.skipIf(!hasTmux)("waiting for a worker (needs tmux)", () => {
	let server: PrivateServer;
	let root: string;
	beforeEach(() => {
		server = new PrivateServer();
		root = mkdtempSync(join(tmpdir(), "wait-"));
	});
	afterEach(async () => {
		await server[Symbol.asyncDispose]();
		rmSync(root, { recursive: true, force: true });
	});

	it("tells what became of the worker in the last moment, not what was seen before it (T159)", async () => {
		await server.open("exec cat");
		let now = 0;
		let atEnd = () => now;
		const clock = {
			now: () => now,
			sleep: async (ms: number) => {
				now += ms;
				if (now >= 1000) atEnd();
			},
		};
		const drive = { ...makeDrive(server), clock };
		const dispatch: Dispatch = {
			...{
				drive,
				root,
				dir: ".agent-dispatch",
				server: undefined,
				columnWidth: 45,
				floor: { columns: 50, rows: 20 },
				reapDone: true,
			},
		};
		await openWorker(dispatch, worker, { command: "exec cat", prompt: "work", caller: undefined });
		expect((await waitWorker(dispatch, worker, 1000)).state).toBe("running");
		now = 0;
		const result = join(dirname(filesOf(dispatch, worker).prompt), "apply-result.yaml");
		atEnd = () => {
			writeFileSync(result, "status: success\n");
			return now;
		};
		expect((await waitWorker(dispatch, worker, 1000)).state).toBe("done");
	});
});
