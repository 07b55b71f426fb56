import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDrive, QUICK } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer } from "../testing/tmux-server.ts";
import { openWorker } from "./worker.ts";

it.skipIf(!hasTmux)(
	"a worker that ends at once is an error, has no record and leaves no pane (needs tmux)",
	async () => {
		await using server = new PrivateServer();
		const home = await server.open("exec cat");
		const drive = makeDrive(server, { ...QUICK, start: 600_000 });
		const dispatch = {
			...{ drive, root: server.folder, dir: ".agent-dispatch", server: undefined },
			...{ columnWidth: 45, floor: { columns: 50, rows: 20 }, reapDone: true },
		};
		const request = { command: "exit 3", prompt: "work", caller: undefined };
		await expect(openWorker(dispatch, { key: "k1", stage: "apply" }, request)).rejects.toMatchObject({
			...{ code: "died_at_start", message: expect.stringContaining("exit 3") },
		});
		const folder = join(server.folder, ".agent-dispatch", "k1");
		expect(["apply.yaml", "apply-prompt.md"].map((name) => existsSync(join(folder, name)))).toEqual([false, true]);
		expect((await server.tmux.run(["list-panes", "-a", "-F", "#{pane_id}"])).trim()).toBe(home);
	},
);
