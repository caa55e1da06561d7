import type { KeyedWork } from "@scrip/idempotency";
import type { NewId } from "@scrip/ids";
import type { Database, DefinitionVersions } from "@scrip/postgres";

import type { CredentialCache } from "./auth/credential-cache.ts";

export type Deps = {
  readonly db: Database;
  readonly credentialCache: CredentialCache;
  /** Writes to cached definitions go through it, so that caches are invalidated. */
  readonly definitions: DefinitionVersions;
  readonly newId: NewId;
  /** Real time in epoch milliseconds: tokens and keys do not follow sandbox clocks. */
  readonly clock: () => number;
  readonly tokenSeconds: number;
  /** Called after each commit that wrote events, so that the relay does not wait for its next poll. */
  readonly onEvents: () => void;
};

/** The dependencies for a request with an idempotency key. */
export const bindToRequest = (
  deps: Deps,
  { db, newId, definitions, afterCommit }: KeyedWork,
): Deps => ({
  ...deps,
  db,
  newId,
  definitions: definitions(deps.definitions),
  onEvents: () => afterCommit(deps.onEvents),
  credentialCache: {
    ...deps.credentialCache,
    evictToken: async (hash) => afterCommit(() => deps.credentialCache.evictToken(hash)),
    evictKey: async (keyId) => afterCommit(() => deps.credentialCache.evictKey(keyId)),
    evictProject: async (projectId) =>
      afterCommit(() => deps.credentialCache.evictProject(projectId)),
  },
});
