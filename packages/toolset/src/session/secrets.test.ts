import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { calling, openTestSession } from "../testing/session.ts";
import { SecretStore } from "./secrets.ts";

const dotenv = [
	"# settings",
	"API_KEY=canary-0123456789",
	'export DB_PASSWORD="s3cret # value"',
	"DATABASE_URL=postgres://app:pa55w0rd-x@db.example/app",
	"SESSION_SECRET=plainword # a word that stands in many texts",
	"NODE_ENV=production",
	"API_URL=https://api.example/v1/things",
	"PUBLIC_KEY=shown-0123456789",
].join("\n");

/** What the model reads of one call. */
async function readResult(files: Record<string, string>, name: string, args: object): Promise<string> {
	await using at = await openTestSession([calling([name, args]), reply({ text: "done" })], { files });
	await at.session.submit("go");
	return at.request(1).at(-1)!.text;
}

test.each([
	["read_file", { file_path: ".env" }],
	["grep", { pattern: "=", path: ".env" }],
	["shell", { command: "cat .env" }],
	["shell", { command: `python3 -c 'print(open(".en" + "v").read())'` }],
])("%s with %j shows names and no passwords of the project's settings", async (name, args) => {
	const text = await readResult({ ".env": dotenv, "a.txt": "" }, name, args);
	expect(text).toContain("API_KEY=[secret API_KEY not shown]");
	expect(text).toContain('DB_PASSWORD="[secret DB_PASSWORD not shown]"');
	expect(text).toContain("postgres://app:[secret DATABASE_URL not shown]@db.example/app");
	expect(text).toContain("NODE_ENV=production");
	expect(text).toContain("API_URL=https://api.example/v1/things");
	expect(text).toContain("PUBLIC_KEY=shown-0123456789");
	expect(text).toContain("SESSION_SECRET=plainword");
	expect(text).not.toMatch(/canary|s3cret|pa55w0rd/);
});

test("a value is hidden wherever it turns up, also from settings in folders below and above", async () => {
	const files = {
		".git/HEAD": "",
		"packages/api/.env.local": "TOKEN=canary-0123456789",
		"log.txt": "sent canary-0123456789\n",
	};
	expect(await readResult(files, "read_file", { file_path: "log.txt" })).toBe("1 | sent [secret TOKEN not shown]");
});

test("settings outside of the project are known when a call names them, also through a link", async () => {
	await using other = await openTestSession([], { files: { ".env.prod": "KEY=canary-0123456789" } });
	const path = join(other.folder.path, ".env.prod");
	for (const [command, link] of [
		[`cat ${path}`, "plain"],
		["cat .env.link", ".env.link"],
	] as const) {
		await using at = await openTestSession([calling(["shell", { command }]), reply({ text: "done" })]);
		await symlink(path, join(at.folder.path, link));
		await at.session.submit("go");
		expect(at.request(1).at(-1)!.text).toContain("KEY=[secret KEY not shown]");
	}
});

test("every line of a key over several lines is hidden, and the paths of files are not", async () => {
	const key = "-----BEGIN PRIVATE KEY-----\ncanary+line/1\ncanary+line/2\n-----END PRIVATE KEY-----";
	const env = `GOOGLE_CREDENTIALS_PATH=/usr/bin/env\nA='1'\nSIGNING_KEY="${key}"\nPASSWORD='canary-0123456789'\n`;
	const text = await readResult({ ".env": env }, "read_file", { file_path: ".env" });
	expect(text).toContain("PATH=/usr/bin/env\n");
	expect(text).toContain("4 | [secret SIGNING_KEY not shown]\n5 | [secret SIGNING_KEY not shown]\n6 | -----END");
	expect(text).not.toContain("canary");
});

test("the examples of settings are shown as they are", async () => {
	const text = await readResult({ ".env.example": dotenv }, "read_file", { file_path: ".env.example" });
	expect(text).toContain("canary-0123456789");
});

test.each([
	["write_file", { file_path: ".env", content: "API_KEY=[secret API_KEY not shown]\nPORT=1\n" }],
	["edit_file", { file_path: ".env", old_string: "API_KEY=[secret API_KEY not shown]", new_string: "x" }],
])("%s does not put the mark of a hidden value into a file", async (name, args) => {
	await using at = await openTestSession([calling([name, args]), reply({ text: "done" })], {
		files: { ".env": dotenv },
	});
	await at.session.submit("go");
	expect(at.request(1).at(-1)!.text).toContain("stands for a value that you cannot see");
	expect(await readFile(join(at.folder.path, ".env"), "utf8")).toBe(dotenv);
});

test("the lines around a hidden value can be edited", async () => {
	const args = { file_path: ".env", old_string: "NODE_ENV=production", new_string: "NODE_ENV=test" };
	expect(await readResult({ ".env": dotenv }, "edit_file", args)).toBe("Made 1 replacement in .env.");
});

test("arguments of many megabytes are searched for names of settings in one go", async () => {
	await using at = await openTestSession([], { files: { ".env": dotenv } });
	const store = new SecretStore(at.environment, "");
	await store.learn({ content: `${"x".repeat(5_000_000)} .env ${".env".repeat(1000)}` });
	expect(store.hide("canary-0123456789")).toBe("[secret API_KEY not shown]");
});
