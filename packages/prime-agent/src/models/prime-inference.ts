import { ZAI_MODELS } from "@earendil-works/pi-ai/providers/zai.models";
import type { Catalog } from "./catalog.ts";

/**
 * The models of Prime Inference that are known without asking it. Sizes and prices are those that the maker of the
 * model publishes, so costs are estimates.
 */
export function loadPrimeInference(): Catalog {
	const { compat: _compat, ...glm } = ZAI_MODELS["glm-5.2"];
	const id = "z-ai/glm-5.2";
	return {
		[id]: { ...glm, id, provider: "prime-inference", baseUrl: "https://api.pinference.ai/api/v1" },
	};
}
