import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { isPiped, readPiped } from "./piped-input.ts";

const never = new AbortController().signal;

it("joins characters that were split over chunks", async () => {
	const stream = new PassThrough();
	const text = readPiped(stream, () => undefined, never);
	const bytes = Buffer.from("a€b");
	stream.write(bytes.subarray(0, 2));
	stream.end(bytes.subarray(2));
	expect(String(await text)).toBe("a€b");
});

it("tells once that it waits when nothing comes", async () => {
	const stream = new PassThrough();
	const onSilence = vi.fn();
	const text = readPiped(stream, onSilence, never, 1);
	await vi.waitFor(() => expect(onSilence).toHaveBeenCalledOnce());
	stream.end("late");
	expect(String(await text)).toBe("late");
	expect(onSilence).toHaveBeenCalledOnce();
});

it("does not take its own busy time for silence", async () => {
	const server = createServer();
	await once(server.listen(0, "127.0.0.1"), "listening");
	const stream = connect((server.address() as AddressInfo).port, "127.0.0.1");
	const [other] = (await once(server, "connection")) as [Socket];
	server.close();
	other.end("there all the time");
	const onSilence = vi.fn();
	const text = readPiped(stream, onSilence, never, 1);
	const busyUntil = performance.now() + 20;
	while (performance.now() < busyUntil);
	await text;
	await new Promise((fulfil) => setImmediate(fulfil));
	expect(onSilence).not.toHaveBeenCalled();
});

it("stops to wait when it is aborted", async () => {
	const controller = new AbortController();
	const text = readPiped(new PassThrough(), () => undefined, controller.signal);
	controller.abort(new Error("Stopped."));
	await expect(text).rejects.toThrow("Stopped.");
});

it("takes a closed descriptor for no input", () => {
	expect(isPiped(9_999)).toBe(false);
});

it("refuses input that does not end before it fills the memory", async () => {
	const stream = new PassThrough();
	const text = readPiped(stream, () => undefined, never);
	for (let mb = 0; mb <= 32; mb++) stream.write(Buffer.alloc(1024 * 1024));
	await expect(text).rejects.toThrow("The piped input is larger than 32 MB.");
});
