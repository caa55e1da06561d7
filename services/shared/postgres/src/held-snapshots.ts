import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "pg";

import { withClient } from "./bulk-reads.ts";
import { SnapshotUnavailable, TooManySnapshots } from "./errors.ts";

/** Snapshots that a process holds, for several transactions that must read the same rows. */
export type Snapshots = {
  /**
   * Yields the name of one snapshot, repeatedly. It lasts until the loop is left, `signal` is aborted or `close` is called.
   * Throws `TooManySnapshots`. Unavailable: the connection is lost, or the longest duration is over.
   */
  readonly hold: (projectId: string, signal: AbortSignal) => AsyncIterable<string>;
  readonly close: () => void;
};

/** Each has a connection beside the pool: as many as the chart of Helm expects. */
const MAX_HELD = 3;

/** As long as an export may read its rows. Until then, PostgreSQL cannot remove rows that were deleted meanwhile. */
const MAX_MS = 60 * 60_000;

/** How long a lost connection, and a caller on the network that has left, remain unnoticed at most. */
const INTERVAL_MS = 1_000;

export function createSnapshots(
  connect: (projectId: string) => Client,
  { maxMs = MAX_MS }: { readonly maxMs?: number } = {},
): Snapshots {
  const closing = new AbortController();
  let held = 0;
  return {
    async *hold(projectId, signal) {
      if (held >= MAX_HELD) throw new TooManySnapshots(held);
      held += 1;
      try {
        const end = { maxMs, signal: AbortSignal.any([signal, closing.signal]) };
        yield* withClient(
          () => connect(projectId),
          (client) => namesOf(client, end),
        );
      } finally {
        held -= 1;
      }
    },
    close: () => closing.abort(),
  };
}

async function* namesOf(
  client: Client,
  { maxMs, signal }: { readonly maxMs: number; readonly signal: AbortSignal },
): AsyncIterable<string> {
  const end = performance.now() + maxMs;
  await client.query("begin isolation level repeatable read, read only");
  const { rows } = await client.query<{ name: string }>("select pg_export_snapshot() as name");
  while (!signal.aborted) {
    yield rows[0]?.name ?? "";
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
    if (performance.now() > end)
      throw new SnapshotUnavailable("The snapshot was open for too long");
    if (!signal.aborted) await client.query("select 1");
  }
}
