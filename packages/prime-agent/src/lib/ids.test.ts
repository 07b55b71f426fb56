import { expect, test } from "vitest";
import { createUuid, fileNameOf } from "./ids.ts";

test("an id that is plain stands for itself in file names, as those of other programs do", () => {
	for (const id of [createUuid(0), "2026-01-02T03-04-05-000Z_0190a0b0", "auth.lock", "x"])
		expect(fileNameOf(id)).toBe(id);
});

test("an id that would name another folder, hide a file or be too long is told by a digest of its own", () => {
	const odd = ["", ".", "..", "../../evil", "/etc", "a/b", ".hidden", "a\nb", "a\0b", "x".repeat(101)];
	const names = odd.map(fileNameOf);
	for (const name of names) expect(name).toMatch(/^[0-9a-f]{64}$/);
	expect(new Set(names).size).toBe(odd.length);
});
