import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDrive } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { captureTail } from "../tmux/pane.ts";
import { openAgent } from "./open.ts";
import { requireCommand } from "./program.ts";

it.skipIf(!hasTmux)(
	"a program that only the shell's own files put on PATH is taken, and starts (needs tmux)",
	async () => {
		await using server = new PrivateServer();
		await server.open("exec cat");
		const bin = join(server.folder, "bin");
		mkdirSync(bin);
		writeFileSync(join(bin, "hidden-agent"), "#!/bin/sh\necho found\nexec cat\n", { mode: 0o755 });
		const shell = join(server.folder, "sh");
		writeFileSync(shell, `#!/bin/sh\nPATH=${bin}:$PATH exec /bin/sh "$@"\n`, { mode: 0o755 });
		const drive = makeDrive(server);
		const place = { cwd: server.folder, key: "providers.hidden.interactive_command" };
		await expect(requireCommand(drive, "hidden-agent --flag", place)).rejects.toMatchObject({ code: "usage" });
		await server.tmux.run(["set-option", "-g", "default-shell", shell]);
		await requireCommand(drive, "hidden-agent --flag", place);
		const pane = await openAgent(drive, { command: "hidden-agent --flag", cwd: server.folder, isOtherServer: false });
		await until(async () => (await captureTail(server.tmux, pane.id, 5)).join("") === "found", "the program");
	},
);
