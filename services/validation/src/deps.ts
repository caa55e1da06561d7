import type { KeyedWork } from "@scrip/idempotency";
import type { newId } from "@scrip/ids";
import type { Database, DefinitionCache, DefinitionVersions } from "@scrip/postgres";

import type { Clients } from "./clients.ts";
import type { ProductCollection } from "./domain/catalogue/product-collections.ts";
import type { StackingRules } from "./domain/stacking/stacking-rules.ts";
import type { RuleCaches } from "./loading/validation-rules.ts";
import type { OrderQueue } from "./order/order-queue.ts";
import type { CountRedemption } from "./redemption/count-redemptions.ts";
import type { Catalogue, CatalogueQuery } from "./store/catalogue-lookup.ts";
import type { OrderWait } from "./store/order-claims.ts";
import type { StoredOrder } from "./store/order-rows.ts";
import type { CountValidations } from "./validation/validation-counter.ts";

/** Everything a handler may use. The clock is `call.now`. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly clients: Clients;
  /** Every write of a cached definition goes through it. */
  readonly definitions: DefinitionVersions;
  /** Stacking rules of each project that has configured them. */
  readonly stackingRules: DefinitionCache<StackingRules>;
  /** Validation rules and their assignments. */
  readonly ruleCaches: RuleCaches;
  /** Ids of the product collections of each project. */
  readonly collectionIds: DefinitionCache<readonly string[]>;
  /** Product collections by id. */
  readonly collections: DefinitionCache<ProductCollection>;
  /** Concurrent lookups are batched. */
  readonly findInCatalogue: (names: CatalogueQuery) => Promise<Catalogue>;
  /** Concurrent writes are batched. */
  readonly saveOrder: (order: StoredOrder) => Promise<void>;
  /** Identifies this process in the claims of orders and sessions (`ProcessLock`). */
  readonly processId: number;
  /** Requests of this process that use the same order. */
  readonly orderQueue: OrderQueue;
  /** Reserves the next turn with an order that another process holds, outside any transaction. */
  readonly awaitOrder: (wait: OrderWait) => Promise<void>;
  /** For the summaries of campaigns. */
  readonly countValidations: CountValidations;
  /** Runs a redemption and counts its outcome. */
  readonly countRedemption: CountRedemption;
  /** Call after a transaction that may have written events. */
  readonly onEvents: () => void;
  /** Reports errors that do not fail their request. */
  readonly onError: (error: Error) => void;
  /** Key of the hash in tracking ids. */
  readonly trackingSecret: string;
};

/** Longest wait for the order of another process while the request holds the transaction of its key. */
const KEYED_ORDER_WAIT_MS = 2_000;

/** The dependencies for a request with an idempotency key. Redemptions, which save orders, store their own. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
  definitions: work.definitions(deps.definitions),
  orderQueue: { ...deps.orderQueue, maxWaitMs: KEYED_ORDER_WAIT_MS },
  onEvents: () => work.afterCommit(deps.onEvents),
});
