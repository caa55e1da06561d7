import type { newId } from "@scrip/ids";
import type { Database } from "@scrip/postgres";

import type { Clients } from "./clients.ts";
import type { DefinitionCaches } from "./loading/definition-cache.ts";

/** The dependencies of handlers. The time comes from the call. */
export type Deps = Clients & {
  readonly db: Database;
  readonly newId: typeof newId;
  readonly definitions: DefinitionCaches;
};
