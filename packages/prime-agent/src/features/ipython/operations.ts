import { int, nullable, obj, oneOf, str } from "@earendil-works/pi-schema";
import { defineOperation } from "../../protocol/operation.ts";

/** The running Python kernel; null before the first cell and after its end. */
export const kernelInfo = defineOperation({
	name: "kernel.info",
	doors: ["client", "feature"],
	scope: "session",
	effect: "read",
	params: obj({}),
	result: nullable(obj({ backend: oneOf(["builtin", "ipykernel"]), python: str(), version: str(), pid: int() })),
});
