import type { Api, Model } from "@earendil-works/pi-ai";

/** Models by id. */
export type Catalog = Readonly<Record<string, Model<Api>>>;
