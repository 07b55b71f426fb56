import { PaneMissing } from "../errors.ts";
import { pasteText, pressKeys, typeLiteral } from "../tmux/input.ts";
import { captureTail, type FrameRequest, type PaneFrame, type PaneInfo, readFrame, readPane } from "../tmux/pane.ts";
import { callOptions, type Drive } from "./context.ts";

/** Everything that a verb does to one pane; the single door between the algorithms and tmux. */
export interface PaneIO {
	readonly id: string;
	/** Reads the pane; throws `PaneMissing` when it is gone or dead. */
	info(): Promise<PaneInfo>;
	/** Reads pane and visible screen in one moment; throws `PaneMissing` when the pane is gone. */
	frame(request?: FrameRequest): Promise<PaneFrame>;
	/** The last rows with history as one text, without trailing blank rows. */
	tail(lines: number): Promise<string>;
	type(text: string): Promise<void>;
	press(...keys: string[]): Promise<void>;
	paste(text: string): Promise<void>;
}

/** The pane of a tmux server. Every input leaves a tmux mode first and refuses a dead pane. */
export function openPaneIO(drive: Drive, id: string): PaneIO {
	const { tmux } = drive;
	const options = callOptions(drive);
	const input = { ...options, respectMode: drive.respectMode };
	return {
		id,
		info: () => readPane(tmux, id, options),
		frame: async (request) => {
			const frame = await readFrame(tmux, id, { ...options, ...request });
			if (frame === undefined) throw new PaneMissing(id);
			return frame;
		},
		tail: async (lines) => (await captureTail(tmux, id, lines, options)).join("\n"),
		type: (text) => typeLiteral(tmux, id, text, input),
		press: (...keys) => pressKeys(tmux, id, keys, input),
		paste: (text) => pasteText(tmux, id, text, input),
	};
}
