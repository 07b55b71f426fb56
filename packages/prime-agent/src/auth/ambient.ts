import type { Environment } from "../platform/paths.ts";

/** The name of the credential that a cloud's own tools provide, or undefined where there is none to be seen. */
export function findAmbient(kind: "aws" | "vertex", env: Environment): string | undefined {
	return kind === "aws" ? findAws(env) : findVertex(env);
}

function findAws(env: Environment): string | undefined {
	if (env.AWS_PROFILE) return "AWS_PROFILE";
	if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) return "AWS_ACCESS_KEY_ID";
	const roles = [
		"AWS_BEARER_TOKEN_BEDROCK",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_WEB_IDENTITY_TOKEN_FILE",
	];
	return roles.find((name) => env[name]);
}

function findVertex(env: Environment): string | undefined {
	const project = env.GOOGLE_CLOUD_PROJECT || env.GCLOUD_PROJECT;
	if (!project || !env.GOOGLE_CLOUD_LOCATION) return undefined;
	return env.GOOGLE_APPLICATION_CREDENTIALS ? "GOOGLE_APPLICATION_CREDENTIALS" : "GOOGLE_CLOUD_PROJECT";
}
