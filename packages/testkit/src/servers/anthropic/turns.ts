import { listObjects } from "../json.ts";
import { Pairing, type PairingFault } from "../pairing.ts";

/** One content block with its place in the request. */
export interface PlacedBlock {
	/** Such as `messages.1.content.0`. */
	readonly at: string;
	readonly block: Record<string, unknown>;
}

/** Neighbouring messages of one role, which the server joins. */
export interface Turn {
	readonly role: unknown;
	/** Such as `messages.1`. */
	readonly at: string;
	readonly blocks: readonly PlacedBlock[];
}

const known = new WeakMap<object, readonly Turn[]>();

/** The turns of a conversation; text alone counts as one text block, no text as none. */
export function listTurns(messages: unknown): readonly Turn[] {
	if (!Array.isArray(messages)) return [];
	const found = known.get(messages) ?? joinTurns(messages);
	known.set(messages, found);
	return found;
}

function joinTurns(messages: readonly unknown[]): readonly Turn[] {
	const turns: (Turn & { blocks: PlacedBlock[] })[] = [];
	for (const [index, message] of listObjects(messages).entries()) {
		const at = `messages.${index}`;
		const isText = typeof message.content === "string" && message.content !== "";
		const content = isText ? [{ type: "text", text: message.content }] : message.content;
		const blocks = listObjects(content).map((block, place) => ({ at: `${at}.content.${place}`, block }));
		const last = turns.at(-1);
		if (last && last.role === message.role) last.blocks.push(...blocks);
		else turns.push({ role: message.role, at, blocks });
	}
	return turns;
}

/** All blocks of a conversation, those inside tool results too. */
export function listAllBlocks(messages: unknown): PlacedBlock[] {
	return listTurns(messages).flatMap((turn) =>
		turn.blocks.flatMap((placed) => {
			const inner = listObjects(placed.block.content);
			return [placed, ...inner.map((block, place) => ({ at: `${placed.at}.content.${place}`, block }))];
		}),
	);
}

/** Every fault of calls and results: results stand in the turn after their calls, before anything else. */
export function findTurnFaults(messages: unknown): readonly PairingFault[] {
	const pairing = new Pairing();
	for (const turn of listTurns(messages)) {
		const isResult = ({ block }: PlacedBlock) => block.type === "tool_result";
		for (const { at, block } of turn.role === "user" ? turn.blocks.filter(isResult) : []) {
			pairing.answer(String(block.tool_use_id), at);
		}
		pairing.settle();
		for (const { at, block } of turn.blocks) if (block.type === "tool_use") pairing.ask(String(block.id), at);
	}
	pairing.settle();
	return pairing.faults;
}
