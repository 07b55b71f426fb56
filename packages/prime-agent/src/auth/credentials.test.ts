import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { acquireLease } from "../platform/lease.ts";
import { Credentials } from "./credentials.ts";

const query = { provider: "acme", variables: ["ACME_TOKEN", "ACME_API_KEY"] };

async function setUp(options: { auth?: object | string; env?: Record<string, string>; now?: number } = {}) {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const agentFolder = join(home.path, "agent");
	await mkdir(agentFolder);
	const path = join(agentFolder, "auth.json");
	if (options.auth !== undefined) {
		const text = typeof options.auth === "string" ? options.auth : JSON.stringify(options.auth);
		await writeFile(path, text, { mode: 0o600 });
	}
	const env = { ...home.env, ...options.env };
	const keys = new Credentials({ agentFolder, env, now: () => options.now ?? 1_000 });
	return { keys, path, home };
}

it("prefers the key of this run to the stored one, and the stored one to the environment", async () => {
	const { keys } = await setUp({
		auth: { acme: { type: "api_key", key: "stored" } },
		env: { ACME_API_KEY: "environment" },
	});
	expect(await keys.resolve(query)).toEqual({
		apiKey: "stored",
		env: {},
		status: { source: "stored", label: "auth.json" },
	});
	keys.setRuntimeKey("acme", "runtime");
	expect((await keys.resolve(query))?.apiKey).toBe("runtime");
});

it("takes the first variable that is set and names it", async () => {
	const { keys } = await setUp({ env: { ACME_API_KEY: "second", ACME_TOKEN: "" } });
	expect(await keys.resolve(query)).toMatchObject({
		apiKey: "second",
		status: { source: "environment", label: "ACME_API_KEY" },
	});
});

it("falls back to the key of models.json, then to none where the provider needs none", async () => {
	const { keys } = await setUp();
	expect(await keys.resolve({ ...query, fallback: "literal", keyless: true })).toMatchObject({
		apiKey: "literal",
		status: { source: "fallback" },
	});
	expect(await keys.resolve({ ...query, keyless: true })).toMatchObject({
		apiKey: undefined,
		status: { source: "keyless" },
	});
	expect(await keys.resolve(query)).toBeUndefined();
});

it("prefers environment and Prime's own file for Prime Inference", async () => {
	const prime = { provider: "prime-inference", variables: ["PRIME_API_KEY"], primeOrder: true };
	const auth = { "prime-inference": { type: "api_key", key: "stored" } };
	const { keys, home } = await setUp({ auth });
	await mkdir(join(home.path, ".prime"));
	await writeFile(join(home.path, ".prime", "config.json"), JSON.stringify({ api_key: "of the command line" }));
	expect(await keys.resolve(prime)).toMatchObject({ apiKey: "of the command line", status: { source: "prime_cli" } });
	const { keys: second } = await setUp({ auth, env: { PRIME_API_KEY: "environment" } });
	expect((await second.resolve(prime))?.apiKey).toBe("environment");
});

it("does not let the environment step in for an expired login", async () => {
	const { keys } = await setUp({
		auth: { acme: { type: "oauth", access: "token", refresh: "r", expires: 500 } },
		env: { ACME_API_KEY: "bills" },
		now: 1_000,
	});
	await expect(keys.resolve(query)).rejects.toThrow("/login");
	expect(await keys.status(query)).toEqual({ source: "stale", label: "expired" });
});

it("counts an expired login that can be renewed as a credential, and says in words that renewing failed", async () => {
	const login = { type: "oauth", access: "token", refresh: "r", expires: 500 };
	const { keys, path } = await setUp({ auth: { radius: login }, now: 1_000 });
	const asked = { provider: "radius", variables: [] };
	expect(await keys.status(asked)).toEqual({ source: "stored", label: "auth.json, login to be renewed" });
	const stopped = new AbortController();
	stopped.abort(new Error("stopped by hand"));
	await expect(keys.resolve(asked, stopped.signal)).rejects.toThrow("stopped by hand");
	await rm(path);
	await expect(keys.resolve(asked)).rejects.toThrow(
		/^The stored login for radius has expired and could not be renewed: .*auth\.json cannot be read any more\. Run \/login/,
	);
});

it("uses a login that another process has renewed meanwhile", async () => {
	const login = { type: "oauth", access: "old", refresh: "r", expires: 500 };
	const { keys, path } = await setUp({ auth: { radius: login }, now: 1_000 });
	const asked = { provider: "radius", variables: [] };
	await keys.status(asked);
	const lease = acquireLease(dirname(path), "auth.lock");
	const key = keys.resolve(asked);
	await writeFile(path, JSON.stringify({ radius: { ...login, access: "new", expires: 2_000 } }));
	lease.release();
	expect((await key)?.apiKey).toBe("new");
});

it("uses the token of a login that is still good", async () => {
	const { keys } = await setUp({ auth: { acme: { type: "oauth", access: "token", expires: 2_000 } }, now: 1_000 });
	expect((await keys.resolve(query))?.apiKey).toBe("token");
});

it("finds a key under another name of the provider", async () => {
	const { keys } = await setUp({ auth: { "acme-old": { type: "api_key", key: "k" } } });
	expect((await keys.resolve({ ...query, aliases: ["acme-old"] }))?.apiKey).toBe("k");
});

it("sees the credentials of a cloud's tools without a key", async () => {
	const { keys } = await setUp({ env: { AWS_PROFILE: "work" } });
	expect(await keys.resolve({ provider: "bedrock", variables: [], ambient: "aws" })).toMatchObject({
		apiKey: undefined,
		status: { source: "environment", label: "AWS_PROFILE" },
	});
});

it("runs the command of a stored key once, and that of models.json for each request", async () => {
	const { keys, home } = await setUp({ auth: { acme: { type: "api_key", key: '!printf x >> "$HOME/a"; echo k' } } });
	expect((await keys.resolve(query))?.apiKey).toBe("k");
	await keys.resolve(query);
	expect(await readFile(join(home.path, "a"), "utf8")).toBe("x");
	const other = { provider: "other", variables: [], fallback: '!printf x >> "$HOME/b"; echo k' };
	await keys.resolve(other);
	await keys.resolve(other);
	expect(await readFile(join(home.path, "b"), "utf8")).toBe("xx");
});

it("asks a command again after it has failed", async () => {
	const { keys } = await setUp({
		auth: { acme: { type: "api_key", key: '!test -e "$HOME/c" && echo k || { touch "$HOME/c"; exit 1; }' } },
	});
	await expect(keys.resolve(query)).rejects.toThrow("exit code 1");
	expect((await keys.resolve(query))?.apiKey).toBe("k");
});

it("runs no command to tell where a key comes from", async () => {
	const { keys, home } = await setUp({ auth: { acme: { type: "api_key", key: '!touch "$HOME/ran"; echo k' } } });
	expect(await keys.status(query)).toEqual({ source: "stored", label: "auth.json" });
	await expect(readFile(join(home.path, "ran"))).rejects.toThrow("ENOENT");
});

it("warns about a file that others can read, and about entries that are no credentials", async () => {
	const { keys, path } = await setUp({ auth: { bad: { type: "api_key" }, acme: { type: "api_key", key: "k" } } });
	await chmod(path, 0o644);
	expect(keys.warnings()).toEqual([
		`${path} can be read by other users of this machine. Run "chmod 600 ${path}".`,
		`${path}: the entry of "bad" is not a credential and is not used; a key is written as { "type": "api_key", "key": "…" }.`,
	]);
	expect((await keys.resolve(query))?.apiKey).toBe("k");
});

it("says which name of an entry means nothing, and quotes no value", async () => {
	const { keys, path } = await setUp({ auth: { acme: { type: "api_key", keey: "sk-secret" } } });
	expect(keys.warnings()).toEqual([
		`${path}: the entry of "acme" is not a credential and is not used; a key is written as { "type": "api_key", "key": "…" }.`,
		`${path}: the entry of "acme": "keey" is not known. Did you mean "key"?`,
	]);
});

it("quotes no key that stands where a name belongs", async () => {
	const key = `sk-${"a1B2".repeat(10)}`;
	const { keys, path } = await setUp({ auth: { [key]: { [key]: "openai" }, acme: { type: "api_key", key: "k" } } });
	expect(keys.warnings()).toEqual([
		`${path}: entry 1, whose name is as long as a key, is not a credential and is not used; a key is written as { "type": "api_key", "key": "…" }.`,
	]);
});

it("quotes nothing of a file that is not JSON", async () => {
	const { keys, path } = await setUp({ auth: '{"acme": {"key": "sk-secret' });
	expect(keys.warnings()).toEqual([`${path} is not used: it is not valid JSON (line 1, column 18).`]);
	expect(await keys.resolve(query)).toBeUndefined();
});
