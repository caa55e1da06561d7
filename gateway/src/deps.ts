import type { Database, DefinitionVersions } from "@scrip/postgres";

import type { CredentialCache } from "./auth/credential-cache.ts";

export type Deps = {
  readonly db: Database;
  readonly credentialCache: CredentialCache;
  /** Writes to cached definitions go through it, so that caches are invalidated. */
  readonly definitions: DefinitionVersions;
  readonly newId: (prefix: "proj" | "app" | "ms") => string;
  /** Real time in epoch milliseconds: tokens and keys do not follow sandbox clocks. */
  readonly clock: () => number;
  readonly tokenSeconds: number;
};
