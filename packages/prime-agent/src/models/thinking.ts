import type { Api, Model, ModelThinkingLevel } from "@earendil-works/pi-ai";

/** What a person should know whose model cannot think as hard as they asked; undefined when it can. */
export async function describeThinking(model: Model<Api>, wanted: ModelThinkingLevel): Promise<string | undefined> {
	const name = `${model.provider}/${model.id}`;
	if (!model.reasoning) {
		if (wanted === "off") return undefined;
		return `${name} does not think, so --thinking ${wanted} changes nothing. "prime-agent model list" shows which models do.`;
	}
	const { clampThinkingLevel, getSupportedThinkingLevels } = await import("@earendil-works/pi-ai/models");
	const level = clampThinkingLevel(model, wanted);
	if (level === wanted) return undefined;
	const known = getSupportedThinkingLevels(model).join(", ");
	return `${name} cannot think at the level ${wanted} and takes ${level}; it knows ${known}.`;
}
