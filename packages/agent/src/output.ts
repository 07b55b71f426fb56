// Control signs, line separators, and the marks that reorder text on a screen.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** Text from outside as one line that does nothing to a terminal. */
export function toOneLine(text: string): string {
	return text.replace(unsafe, " ").trim();
}

/** Like `toOneLine`, but every sign that could do something stands there as its code. */
export function showSigns(text: string): string {
	return text.replace(unsafe, (signs) =>
		[...signs]
			.map((sign) => (sign === "\t" ? "\t" : `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`))
			.join(""),
	);
}

/** Text for a terminal: line ends and tabs stay, other control signs go. */
export function cleanText(text: string): string {
	return text.replace(/\p{Cc}/gu, (sign) => (sign === "\n" || sign === "\t" ? sign : ""));
}

const longestSubject = 200;

/** What a call is about, as one line of at most 200 characters. */
export function shortenSubject(subject: string): string {
	const characters = [...toOneLine(subject)];
	return characters.length > longestSubject ? `${characters.slice(0, longestSubject).join("")}…` : characters.join("");
}
