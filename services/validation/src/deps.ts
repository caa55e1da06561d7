import type { newId } from "@scrip/ids";
import type { Database, DefinitionCache, DefinitionVersions } from "@scrip/postgres";

import type { Clients } from "./clients.ts";
import type { Collection } from "./domain/catalogue/product-collections.ts";
import type { StackingRules } from "./domain/stacking/stacking-rules.ts";
import type { RuleCaches } from "./loading/validation-rules.ts";
import type { Catalogue, CatalogueQuery } from "./store/catalogue-lookup.ts";
import type { StoredOrder } from "./store/order-rows.ts";

/** Everything a handler may touch. The clock is the call's. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly clients: Clients;
  /** Every write of what is remembered goes through it. */
  readonly definitions: DefinitionVersions;
  /** Of each project that has set some, read by gatherStackingRules. */
  readonly stackingRules: DefinitionCache<StackingRules>;
  /** Validation rules and what they are assigned to, read by gatherRules. */
  readonly ruleCaches: RuleCaches;
  /** Product collections by id, read by gatherCollections. */
  readonly collections: DefinitionCache<Collection>;
  /** Products and SKUs that are asked for at the same time are looked up together. */
  readonly findInCatalogue: (names: CatalogueQuery) => Promise<Catalogue>;
  /** Orders that are stored at the same time are stored together. */
  readonly saveOrder: (order: StoredOrder) => Promise<void>;
  /** To be called after what may have written events. */
  readonly onEvents: () => void;
  /** Told what failed without failing its request. */
  readonly onError: (error: Error) => void;
  /** Makes tracking ids that do not tell the source id they stand for. */
  readonly trackingSecret: string;
};
