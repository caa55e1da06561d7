import type { NewId } from "@scrip/ids";
import type { Database, DefinitionVersions, Queryable } from "@scrip/postgres";
import { bumpDefinitions } from "@scrip/postgres";

type AfterCommit = () => void | Promise<void>;

/** What a service's dependencies become for a request with a key: effects are parts of the key's transaction. */
export type KeyedWork = {
  readonly db: Database;
  /** The same ids at a repetition, for requests that run in steps; otherwise new ids. */
  readonly newId: NewId;
  /** Writes definitions in the key's transaction. */
  readonly definitions: (versions: DefinitionVersions) => DefinitionVersions;
  /**
   * Runs `work` when the transaction has ended, also when its outcome is unknown; the response waits for it. It must
   * neither throw nor reject.
   */
  readonly afterCommit: (work: AfterCommit) => void;
};

export type KeyedTransaction = KeyedWork & {
  /** Bumps the versions of changed definitions: last before the commit, because it locks the project's row. */
  readonly bumpChanged: (tx: Queryable) => Promise<void>;
  readonly runAfterCommit: () => Promise<void>;
};

export function createKeyedWork(db: Database, newId: NewId): KeyedTransaction {
  const changed = new Set<string>();
  const after: AfterCommit[] = [];
  const afterCommit = (work: AfterCommit): void => {
    after.push(work);
  };
  return {
    db,
    newId,
    afterCommit,
    definitions: (versions) => ({
      epochOf: (projectId) => versions.epochOf(projectId),
      refresh: (projectId) => versions.refresh(projectId),
      share: (changes) => versions.share(changes),
      invalidate: async (projectId) => afterCommit(() => versions.invalidate(projectId)),
      write(projectId, work) {
        changed.add(projectId);
        afterCommit(() => versions.invalidate(projectId));
        return db.transaction(work);
      },
    }),
    async bumpChanged(tx) {
      for (const projectId of [...changed].toSorted()) await bumpDefinitions(tx, projectId);
    },
    async runAfterCommit() {
      await Promise.all(after.map(async (work) => work()));
    },
  };
}
