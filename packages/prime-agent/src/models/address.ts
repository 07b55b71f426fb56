/** What is wrong with the address of a model server, or undefined; never repeats it: a password may be part of it. */
export function findAddressFault(address: string): string | undefined {
	if (!/^https?:\/\//i.test(address)) return "must begin with http:// or https://";
	return URL.canParse(address) ? undefined : "is not a valid address";
}
