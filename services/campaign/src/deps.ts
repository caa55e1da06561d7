import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";

/** Everything a handler may touch. The clock is the call's. */
export type Deps = {
  readonly db: Database;
  readonly newId: typeof newId;
};
