import { setTimeout as sleep } from "node:timers/promises";

import { type Client, escapeLiteral } from "pg";

import { withClient } from "./bulk-reads.ts";
import type { Database } from "./database.ts";
import { SnapshotClosed, sqlState } from "./errors.ts";
import type { ProjectQueryable } from "./queryable.ts";

/** How long a server notices at most that a caller on the network has left. */
const SNAPSHOT_INTERVAL_MS = 1_000;

/** Yields the name of one snapshot, repeatedly. The snapshot lasts until the loop is left. */
export const holdSnapshot = (connect: () => Client): AsyncIterable<string> =>
  withClient(connect, async function* hold(client) {
    await client.query("begin isolation level repeatable read, read only");
    const { rows } = await client.query<{ name: string }>("select pg_export_snapshot() as name");
    for (;;) {
      yield rows[0]?.name ?? "";
      await sleep(SNAPSHOT_INTERVAL_MS);
    }
  });

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
      throw UNKNOWN_SNAPSHOTS.has(sqlState(error)) ? new SnapshotClosed(error) : error;
    }
    return read(tx);
  });
