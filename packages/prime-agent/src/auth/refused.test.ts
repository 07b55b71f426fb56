import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { Credentials } from "./credentials.ts";

const query = { provider: "acme", variables: ["ACME_API_KEY"] };
const STALE = { source: "stale", label: "expired" };

async function setUp(options: { auth?: object; env?: Record<string, string> } = {}) {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const store = (auth: object) => writeFile(join(home.path, "auth.json"), JSON.stringify(auth), { mode: 0o600 });
	if (options.auth) await store(options.auth);
	const keys = new Credentials({ agentFolder: home.path, env: { ...home.env, ...options.env } });
	return { keys, store, home };
}

/** Sends a request that is refused, as a session does: it remembers what was sent and gives up on it. */
async function refuse(keys: Credentials, wanted: Parameters<Credentials["resolve"]>[0] = query) {
	const sent = await keys.resolve(wanted);
	const token = await keys.current(wanted.provider);
	await keys.markStale(wanted.provider, [token!]);
	return { sent: sent?.apiKey, token: token! };
}

it("passes over a refused key and says that it is expired where there is no other", async () => {
	const { keys } = await setUp({ env: { ACME_API_KEY: "sk-one" } });
	await refuse(keys);
	expect(await keys.status(query)).toEqual(STALE);
	await expect(keys.resolve(query)).rejects.toThrow("was refused and is not sent again. Run /login");
});

it("goes on to the next source after a refused key, and back to the first when that changes", async () => {
	const { keys, store } = await setUp({
		auth: { acme: { type: "api_key", key: "stored" } },
		env: { ACME_API_KEY: "variable" },
	});
	expect((await refuse(keys)).sent).toBe("stored");
	expect(await keys.resolve(query)).toMatchObject({ apiKey: "variable", status: { source: "environment" } });
	await store({ acme: { type: "api_key", key: "renewed" } });
	expect(await keys.resolve(query)).toMatchObject({ apiKey: "renewed", status: { source: "stored" } });
});

it("lets nothing step in for a refused login until it is renewed", async () => {
	const login = (access: string) => ({ acme: { type: "oauth", access, expires: Number.MAX_SAFE_INTEGER } });
	const { keys, store } = await setUp({ auth: login("one"), env: { ACME_API_KEY: "bills" } });
	await refuse(keys);
	expect(await keys.status(query)).toEqual(STALE);
	await store(login("two"));
	expect((await keys.resolve(query))?.apiKey).toBe("two");
});

it("finds a login that another process renewed after it had expired", async () => {
	const { keys, store } = await setUp({ auth: { acme: { type: "oauth", access: "one", expires: 1 } } });
	await expect(keys.resolve(query)).rejects.toThrow("has expired");
	await store({ acme: { type: "oauth", access: "two", expires: Number.MAX_SAFE_INTEGER } });
	expect((await keys.resolve(query))?.apiKey).toBe("two");
});

it("sends no request without a key where a refused one belongs", async () => {
	const { keys } = await setUp();
	const server = { ...query, fallback: "literal", keyless: true };
	await refuse(keys, server);
	expect(await keys.status(server)).toEqual(STALE);
	const bare = { ...query, keyless: true };
	keys.setRuntimeKey("acme", "runtime");
	await refuse(keys, bare);
	await expect(keys.resolve(bare)).rejects.toThrow("was refused");
});

it("takes a key of this run that is given again, even the same one", async () => {
	const { keys } = await setUp();
	keys.setRuntimeKey("acme", "runtime");
	expect((await refuse(keys)).token.source).toBe("runtime");
	expect(await keys.status(query)).toEqual(STALE);
	keys.setRuntimeKey("acme", "runtime");
	expect((await keys.resolve(query))?.apiKey).toBe("runtime");
});

it("asks a command anew after a refusal, and again for as long as it prints what was refused", async () => {
	const { keys, home } = await setUp({
		auth: { acme: { type: "api_key", key: '!echo x >> "$HOME/runs"; cat "$HOME/key"' } },
	});
	const runs = async () => (await readFile(join(home.path, "runs"), "utf8")).length / 2;
	await writeFile(join(home.path, "key"), "old");
	await refuse(keys);
	expect(await keys.status(query)).toEqual(STALE);
	await expect(keys.resolve(query)).rejects.toThrow("was refused");
	await writeFile(join(home.path, "key"), "new");
	expect((await keys.resolve(query))?.apiKey).toBe("new");
	expect(await keys.status(query)).toMatchObject({ source: "stored" });
	expect((await keys.resolve(query))?.apiKey).toBe("new");
	expect(await runs()).toBe(3);
});

it("tells what was sent, not what has taken its place meanwhile", async () => {
	const { keys, store } = await setUp({ auth: { acme: { type: "api_key", key: "old" } } });
	await keys.resolve(query);
	await store({ acme: { type: "api_key", key: "new" } });
	const token = await keys.current("acme");
	expect((await keys.resolve(query))?.apiKey).toBe("new");
	await keys.markStale("acme", [token!]);
	expect((await keys.resolve(query))?.apiKey).toBe("new");
});

it("keeps the keys of one provider apart from those of another", async () => {
	const { keys } = await setUp({ env: { ACME_API_KEY: "shared" } });
	await refuse(keys);
	expect(await keys.resolve({ ...query, provider: "other" })).toMatchObject({ apiKey: "shared" });
	expect(await keys.current("nobody")).toBeUndefined();
});

it("describes a key by fingerprints that differ by value and by place and hold none of it", async () => {
	const { keys, home } = await setUp({ env: { ACME_API_KEY: "sk-canary-0123456789" } });
	const { token } = await refuse(keys);
	expect(token).toEqual({
		source: "environment",
		identityFingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
		valueFingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
	});
	const other = new Credentials({ agentFolder: home.path, env: { ...home.env, ACME_API_KEY: "sk-other" } });
	const { token: second } = await refuse(other);
	expect(second.identityFingerprint).toBe(token.identityFingerprint);
	expect(second.valueFingerprint).not.toBe(token.valueFingerprint);
});
