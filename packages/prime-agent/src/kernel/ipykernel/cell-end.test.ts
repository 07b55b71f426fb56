import { expect, it } from "vitest";
import type { Message } from "../builtin/messages.ts";
import { CellEnd } from "./cell-end.ts";

const REPLY = { status: "ok", done: { status: "ok", stdout: "out" } };

/** A cell that runs, and the ends that were told. */
function begin(graceMs: number) {
	const { promise, resolve } = Promise.withResolvers<Message>();
	const ends: Message[] = [];
	const end = new CellEnd((done) => {
		ends.push(done);
		resolve(done);
	}, graceMs);
	end.begin("id", 7);
	return { end, ends, first: promise };
}

it("A cell ends when its reply and the idle state have come, in any order", () => {
	for (const order of ["reply first", "idle first"]) {
		const { end, ends } = begin(600_000);
		if (order === "reply first") end.takeReply("id", REPLY);
		else end.takeIdle("id");
		expect(ends).toEqual([]);
		if (order === "reply first") end.takeIdle("id");
		else end.takeReply("id", REPLY);
		expect(ends).toEqual([{ status: "ok", stdout: "out", cell: 7 }]);
	}
});

it("A cell whose idle state is lost ends after a grace time with its reply", async () => {
	const { end, first } = begin(1);
	end.takeReply("id", REPLY);
	expect(await first).toEqual({ status: "ok", stdout: "out", cell: 7 });
});

it("A cell whose reply is lost ends after a grace time with an error", async () => {
	const { end, first } = begin(1);
	end.takeIdle("id");
	expect(await first).toMatchObject({ status: "error", cell: 7, error: { name: "KernelError" } });
});

it("What answers another request ends nothing", () => {
	const { end, ends } = begin(600_000);
	end.takeIdle("other");
	end.takeReply("", REPLY);
	end.takeReply("id", REPLY);
	end.takeIdle("other");
	expect(ends).toEqual([]);
	end.stop();
});

it("A reply in plain Jupyter ends the cell with its error", () => {
	const { end, ends } = begin(600_000);
	end.takeIdle("id");
	end.takeReply("id", { status: "error", ename: "E", evalue: "v", traceback: ["t"] });
	expect(ends).toEqual([{ status: "error", error: { name: "E", value: "v", traceback: ["t"] }, cell: 7 }]);
});
