import type { KeyedWork } from "@scrip/idempotency";
import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";

import type { Clients } from "./clients.ts";
import type { DefinitionCaches } from "./loading/definition-cache.ts";

/** The dependencies of handlers. The time comes from the call. */
export type Deps = Clients &
  Stores & {
    readonly newId: typeof newId;
    /** Number of vouchers that a campaign may have. */
    readonly maxVouchers: number;
    /** Set for a request with an idempotency key: commits each step by itself. */
    readonly step?: Stores;
  };

type Stores = {
  readonly db: Database;
  readonly definitions: DefinitionCaches;
  /** Called after each commit that wrote to the outbox. */
  readonly onEvents: () => void;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
  definitions: { ...deps.definitions, ...work.definitions(deps.definitions) },
  onEvents: () => work.afterCommit(deps.onEvents),
  step: deps,
});

/**
 * The dependencies of all steps but the last of a request that writes to several services: each step commits by
 * itself and must be repeatable. The last step and the response are written in the transaction of the key.
 */
export const stepDeps = (deps: Deps): Deps => ({ ...deps, ...deps.step });
