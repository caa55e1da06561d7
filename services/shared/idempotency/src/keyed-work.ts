import type { NewId } from "@scrip/ids";
import type { Database, DefinitionVersions, Queryable } from "@scrip/postgres";
import { bumpDefinitions } from "@scrip/postgres";

/** What a service's dependencies become for a request with a key: effects are parts of the key's transaction. */
export type KeyedWork = {
  readonly db: Database;
  /** The same ids at a repetition, for requests that run in steps; otherwise new ids. */
  readonly newId: NewId;
  /** Writes definitions in the key's transaction. */
  readonly definitions: (versions: DefinitionVersions) => DefinitionVersions;
  /** Runs `work` when the transaction has ended, also when its outcome is unknown; it must not throw. */
  readonly afterCommit: (work: () => void) => void;
};

export type KeyedTransaction = KeyedWork & {
  /** Bumps the versions of changed definitions: last before the commit, because it locks the project's row. */
  readonly bumpChanged: (tx: Queryable) => Promise<void>;
  readonly runAfterCommit: () => void;
};

export function createKeyedWork(db: Database, newId: NewId): KeyedTransaction {
  const changed = new Set<string>();
  const after: (() => void)[] = [];
  const afterCommit = (work: () => void): void => {
    after.push(work);
  };
  return {
    db,
    newId,
    afterCommit,
    definitions: (versions) => ({
      epochOf: (projectId) => versions.epochOf(projectId),
      invalidate: (projectId) => afterCommit(() => versions.invalidate(projectId)),
      write(projectId, work) {
        changed.add(projectId);
        afterCommit(() => versions.invalidate(projectId));
        return db.transaction(work);
      },
    }),
    async bumpChanged(tx) {
      for (const projectId of [...changed].toSorted()) await bumpDefinitions(tx, projectId);
    },
    runAfterCommit() {
      for (const work of after) work();
    },
  };
}
