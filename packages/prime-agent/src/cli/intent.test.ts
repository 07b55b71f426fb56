import { expect, it } from "vitest";
import { PLANNED_COMMANDS } from "./commands.ts";
import { type RunRequest, readIntent } from "./intent.ts";

/** The request of a command line, which must be one. */
function request(...argv: string[]): RunRequest {
	const intent = readIntent(argv);
	if (intent.kind !== "run") throw new Error(`not a run: ${intent.kind}`);
	return intent.request;
}

it("reads a prompt with every option that a run has", () => {
	const argv =
		"-p --mode text --cwd /w --provider a --model m --api-key k --thinking high -c --session-dir /s -t x,y -nc " +
		"--system-prompt s --append-system-prompt one --append-system-prompt two @f.txt do it";
	expect(request(...argv.split(" "))).toEqual({
		mode: "text",
		isDemo: false,
		cwd: "/w",
		provider: "a",
		model: "m",
		apiKey: "k",
		thinking: "high",
		session: { kind: "continue" },
		sessionDir: "/s",
		tools: ["x", "y"],
		hasContextFiles: false,
		systemPrompt: "s",
		appendSystemPrompt: ["one", "two"],
		files: ["f.txt"],
		prompt: "do it",
	});
});

it("takes a single word for a prompt only with -p or after --", () => {
	expect(request("-p", "status").prompt).toBe("status");
	expect(request("status", "-p").prompt).toBe("status");
	expect(request("--mode", "json", "--", "status").prompt).toBe("status");
	for (const argv of [["fix", "the", "tests"], ["fix"]]) {
		expect(() => readIntent(["--mode", "json", ...argv])).toThrow('Unknown command "fix');
	}
});

it("takes everything after -- for the prompt, whatever it looks like", () => {
	expect(request("-p", "--", "@not-a-file", "--not-an-option")).toMatchObject({
		files: [],
		prompt: "@not-a-file --not-an-option",
	});
});

it("keeps a lone @ and a value that begins with a dash as text", () => {
	expect(request("-p", "@", "--append-system-prompt", "- be short")).toMatchObject({
		files: [],
		prompt: "@",
		appendSystemPrompt: ["- be short"],
	});
});

it("means the interactive mode without -p, unless events are asked for", () => {
	expect(readIntent([]).kind).toBe("interactive");
	expect(readIntent(["do it"]).kind).toBe("interactive");
	expect(readIntent(["/login"]).kind).toBe("interactive");
	expect(readIntent(["@file"]).kind).toBe("interactive");
	expect(readIntent(["--mode", "json", "do it"]).kind).toBe("run");
});

it("reads the value of --resume where there is one, and knows where there is none", () => {
	expect(request("-p", "--resume", "abc", "do it").session).toEqual({ kind: "resume", selector: "abc" });
	expect(request("-p", "-r", "abc", "do it").session).toEqual({ kind: "resume", selector: "abc" });
	expect(request("--resume=abc", "-p", "do it").session).toEqual({ kind: "resume", selector: "abc" });
	for (const argv of [
		["-p", "-r"],
		["--resume", "-p", "hi"],
		["-p", "--resume", "--", "hi"],
	]) {
		expect(request(...argv).session).toEqual({ kind: "unnamed" });
	}
});

it("shows help for the program and for each command", () => {
	const words = (...argv: string[]) => {
		const intent = readIntent(argv);
		return intent.kind === "help" ? intent.commands.flatMap((command) => command.words) : intent.kind;
	};
	expect(words("--help")).toEqual([]);
	expect(words("-p", "-h", "x")).toEqual([]);
	expect(words("help")).toEqual([]);
	expect(words("help", "model", "list")).toEqual(["model", "list"]);
	expect(words("help", "model")).toEqual(["model", "list"]);
	expect(words("model", "list", "--help")).toEqual(["model", "list"]);
	expect(words("model", "-h")).toEqual(["model", "list"]);
	for (const argv of [
		["kernel", "--help"],
		["help", "kernel"],
	]) {
		expect(words(...argv)).toEqual(["kernel", "status", "kernel", "install"]);
	}
	expect(words("--version")).toBe("version");
	expect(words("-v")).toBe("version");
});

it("reads the command that lists models, with its option on either side", () => {
	expect(readIntent(["model", "list"])).toEqual({ kind: "modelList", isJson: false });
	expect(readIntent(["model", "list", "--json"])).toEqual({ kind: "modelList", isJson: true });
	expect(readIntent(["--json", "model", "list"])).toEqual({ kind: "modelList", isJson: true });
});

it("the options of one command of a family are not those of another", () => {
	expect(readIntent(["kernel", "install", "--timeout", "5"])).toEqual({
		kind: "kernelInstall",
		request: { python: undefined, wheels: undefined, timeout: "5" },
	});
	expect(readIntent(["kernel", "--json", "status"])).toEqual({ kind: "kernelStatus", isJson: true });
	expect(() => readIntent(["kernel", "status", "--wheels", "w"])).toThrow("Unknown option: --wheels");
	expect(() => readIntent(["kernel", "instal"])).toThrow("Use: prime-agent kernel status, prime-agent kernel install.");
});

it.each(["--help me", "-x is wrong", "--a=b c"])(
	"tells how to send the prompt %j, which looks like an option",
	(prompt) => {
		expect(() => readIntent(["-p", prompt])).toThrow(
			/^Unknown option: .* A prompt that begins with - goes behind "--": prime-agent -p -- "<prompt>"\.$/,
		);
		expect(readIntent(["-p", "--", prompt])).toMatchObject({ request: { prompt } });
	},
);

it.each(PLANNED_COMMANDS)("says that the command %s is not there yet", (word) => {
	expect(() => readIntent([word])).toThrow(`The command "${word}" is not there yet.`);
	expect(() => readIntent(["help", word])).toThrow(`The command "${word}" is not there yet.`);
});

it.each([
	["stauts", 'Unknown command "stauts". Run "prime-agent help"'],
	["kernle", 'Unknown command "kernle". Did you mean "kernel"?'],
	["hlep", 'Did you mean "help"?'],
	[
		"zzzzzz",
		'Unknown command "zzzzzz". Run "prime-agent help" for all commands; to send it as a prompt: prime-agent -p "zzzzzz".',
	],
	["modl list --json", 'Unknown command "modl list". Did you mean "model list"? Run'],
	["modl --api-key sk-canary-0123456789", 'Unknown command "modl". Did you mean "model"? Run'],
	["--halp", 'Unknown option: --halp. Did you mean "--help"? Run'],
	["Hello", 'Unknown command "Hello".'],
	["help bogus", 'Unknown command "bogus".'],
	["model", "Missing or unknown model command. Use: prime-agent model list."],
	["model bogus", "Missing or unknown model command. Use: prime-agent model list."],
	["model list extra", '"prime-agent model list" takes no "extra".'],
	["model list --mode json", "Unknown option: --mode."],
	["--bogus", 'Unknown option: --bogus. Run "prime-agent --help" for all options.'],
	["--modle x", 'Unknown option: --modle. Did you mean "--mode" or "--model"?'],
	["-x", /^Unknown option: -x\. Run "prime-agent --help" for all options\.$/],
	["--daemon-socket X list", "Unknown option: --daemon-socket."],
	["-p --json hi", "Unknown option: --json."],
	["--mode bogus", 'Unknown mode "bogus" for --mode: use text, json.'],
	["-p --thinking bogus hi", 'Unknown level "bogus" for --thinking: use off, minimal, low, medium, high, xhigh, max.'],
	["--session-dir", "Option --session-dir needs a value: --session-dir <dir>."],
	["--session-dir -p hi", "Option --session-dir needs a value: --session-dir <dir>."],
	["-p --model= hi", "Option --model needs a value: --model <id>."],
	["-p --print=x hi", "Option --print takes no value."],
	["-p --tools a,,b hi", "--tools needs names: --tools <name,name>."],
	["-p --tools a -nt hi", "Use either --tools or --no-tools."],
	["--demo -p -c hi", "--demo plays its own model in its own session: leave out --continue."],
	["-p -c --no-session hi", "Use only one of --continue and --no-session."],
])("refuses %j with what to do", (line, message) => {
	expect(() => readIntent(line.split(" "))).toThrow(message);
});
