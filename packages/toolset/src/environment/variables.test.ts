import { expect, test } from "vitest";
import { selectVariables } from "./variables.ts";

const host = {
	PATH: "/bin",
	LC_ALL: "C",
	EDITOR: "vi",
	OPENAI_API_KEY: "a",
	db_password: "b",
	AWS_SECRET_ACCESS_KEY: "c",
	SSH_PRIVATE_KEY: "d",
	GOOGLE_CREDENTIALS: "e",
	UNSET: undefined,
};

test("the filtered policy drops names that end like those of secrets in any case", () => {
	expect(selectVariables(host, "filtered")).toEqual({ PATH: "/bin", LC_ALL: "C", EDITOR: "vi" });
});

test("the core policy keeps only the variables that every command needs", () => {
	expect(selectVariables(host, "core")).toEqual({ PATH: "/bin", LC_ALL: "C" });
});

test("the policies all and none keep everything and nothing", () => {
	const { UNSET, ...set } = host;
	expect(selectVariables(host, "all")).toEqual(set);
	expect(selectVariables(host, "none")).toEqual({});
});

test("variables of one call are added after the filter and are filtered themselves", () => {
	expect(selectVariables({}, "none", { MODE: "x", A_TOKEN: "y" })).toEqual({ MODE: "x" });
	expect(selectVariables({}, "all", { A_TOKEN: "y" })).toEqual({ A_TOKEN: "y" });
});
