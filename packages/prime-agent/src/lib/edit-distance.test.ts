import { expect, it } from "vitest";
import { editDistance } from "./edit-distance.ts";

it.each([
	["", "", 0],
	["status", "status", 0],
	["stauts", "status", 1],
	["statu", "status", 1],
	["sstatus", "status", 1],
	["stXtus", "status", 1],
	["", "abc", 3],
	["kitten", "sitting", 3],
])("counts the slips between %j and %j", (from, to, distance) => {
	expect(editDistance(from, to)).toBe(distance);
	expect(editDistance(to, from)).toBe(distance);
});
