import { escapeLiteral } from "pg";

import type { Database } from "./database.ts";
import { SnapshotUnavailable, sqlState } from "./errors.ts";
import type { ProjectQueryable } from "./queryable.ts";

/** Postgres knows no open snapshot of this name. */
const UNKNOWN_SNAPSHOTS = new Set<string | undefined>(["22023", "42704"]);

/** Reads a snapshot that `holdSnapshot` holds, in one transaction. Unavailable: the snapshot is closed. */
export const readSnapshot = <T>(
  db: Pick<Database, "transaction">,
  name: string,
  read: (tx: ProjectQueryable) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    try {
      await tx.query(`set transaction snapshot ${escapeLiteral(name)}`);
    } catch (error) {
      if (!UNKNOWN_SNAPSHOTS.has(sqlState(error))) throw error;
      throw new SnapshotUnavailable("The snapshot to read is closed", { cause: error });
    }
    return read(tx);
  });
