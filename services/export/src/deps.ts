import type { KeyedWork } from "@scrip/idempotency";
import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";

/** The dependencies of handlers. The time comes from the call. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (deps: Deps, work: KeyedWork): Deps => ({
  ...deps,
  db: work.db,
  newId: work.newId,
});
