import type { KeyedWork } from "@scrip/idempotency";
import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";
import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Client, FindProject } from "@scrip/rpc";

import type { RecentUsages } from "./batch/recent-usages.ts";
import type { AssetCipher } from "./image/asset-cipher.ts";
import type { DefinitionCache } from "./loading/definition-cache.ts";

/** The dependencies of handlers. The time comes from the call. */
export type Deps = {
  readonly db: Database;
  /** Whether the index of codes has those with a common beginning next to each other. */
  readonly codesSortByBytes: boolean;
  readonly newId: typeof newId;
  readonly definitions: DefinitionCache;
  readonly recentUsages: RecentUsages;
  readonly assets: AssetCipher;
  readonly customers: Client<typeof CustomerService>;
  /** Client of the loyalty service, for the points of cards. */
  readonly cards: Client<typeof CardService>;
  /** Projects, for background work. */
  readonly findProject: FindProject;
  /** Receives errors that the caller does not see. */
  readonly onError: (error: Error) => void;
  /** Called after each commit that wrote events, so that the relay does not wait for its next poll. */
  readonly onEvents: () => void;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
  onEvents: () => work.afterCommit(deps.onEvents),
});
