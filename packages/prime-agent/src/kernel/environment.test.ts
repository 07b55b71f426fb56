import { describe, expect, it } from "vitest";
import { filterEnvironment } from "./environment.ts";

const SECRET = [
	"OPENAI_API_KEY",
	"ANTHROPIC_OAUTH_TOKEN",
	"AWS_ACCESS_KEY_ID",
	"AWS_SECRET_ACCESS_KEY",
	"AWS_SESSION_TOKEN",
	"AWS_BEARER_TOKEN_BEDROCK",
	"AZURE_OPENAI_API_KEY",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"GITHUB_TOKEN",
	"GH_TOKEN",
	"HF_TOKEN",
	"npm_config__authToken",
	"PGPASSWORD",
	"MYSQL_PWD",
	"DB_PASS",
	"CLIENT_SECRET_VALUE",
	"stripe_key",
	"SIGNING_PRIVATE_KEY",
	"AZURE_DEVOPS_EXT_PAT",
	"SSH_PASSPHRASE",
	"PRIME_API_KEY",
	"SESSION_COOKIE",
	"BASIC_AUTH",
	"ALL_TOKENS",
];

const HARMLESS = [
	"PATH",
	"HOME",
	"PWD",
	"OLDPWD",
	"SSH_AUTH_SOCK",
	"TOKENIZERS_PARALLELISM",
	"KEYBOARD_LAYOUT",
	"XAUTHORITY",
	"MONKEYS",
	"PASSENGER_ENV",
	"COMPASS_DIR",
	"PYTHONPATH",
	"VIRTUAL_ENV",
	"LANG",
	"AWS_REGION",
	"OPENAI_BASE_URL",
	"COOKIECUTTER_CONFIG",
];

describe("the environment of a kernel", () => {
	it.each(SECRET)("leaves %s out", (name) => {
		expect(filterEnvironment({ [name]: "value-1" })).toEqual({ env: {}, leftOut: [name] });
	});

	it.each(HARMLESS)("keeps %s", (name) => {
		expect(filterEnvironment({ [name]: "value-1" })).toEqual({ env: { [name]: "value-1" }, leftOut: [] });
	});

	it.each([
		"sk-test-0123456789abcdef",
		"ghp_0123456789",
		"github_pat_11AA",
		"AKIAABCDEFGHIJKLMNOP",
		"xoxb-1-2",
		"-----BEGIN RSA PRIVATE KEY-----",
	])("leaves a variable with the value of a credential out whatever its name (%s)", (value) => {
		expect(filterEnvironment({ HARMLESS: value }).leftOut).toEqual(["HARMLESS"]);
	});

	it("lets the names through that the settings name, and no others", () => {
		const { env, leftOut } = filterEnvironment({ A_TOKEN: "a", B_TOKEN: "b" }, ["A_TOKEN"]);
		expect({ env, leftOut }).toEqual({ env: { A_TOKEN: "a" }, leftOut: ["B_TOKEN"] });
	});

	it("names what was left out in order and never its value", () => {
		const filtered = filterEnvironment({ Z_KEY: "canary", A_KEY: "canary", EMPTY_KEY: "", GONE: undefined });
		expect(filtered).toEqual({ env: { EMPTY_KEY: "" }, leftOut: ["A_KEY", "Z_KEY"] });
	});
});
