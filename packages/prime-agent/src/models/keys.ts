import type { Key, KeyQuery, KeyStatus } from "../protocol/credential.ts";

/** Where this folder gets its keys: the port that the credentials fill. */
export interface KeyChain {
	/** Where the key would come from; undefined without one. Must run nothing. */
	status(query: KeyQuery): Promise<KeyStatus | undefined>;
	/** The key; undefined without one. May reject with a message for people. */
	resolve(query: KeyQuery, signal?: AbortSignal): Promise<Key | undefined>;
}
