import type { Queryable } from "@scrip/postgres";

import type { DeliveredEvent } from "../bus.ts";
import { keyOf, type Position, readLog } from "./log.ts";

export type LogReader = {
  /** Reads from each position, at most `limit` events of a partition, as `readLog` does. */
  readonly read: (
    positions: readonly Position[],
    limit: number,
  ) => Promise<readonly (readonly DeliveredEvent[])[]>;
  /**
   * Call it after a publication: reads that began before may not see it, and are not shared any
   * more.
   */
  readonly outdate: () => void;
};

/** Maximum number of cached events of one partition; more were read by a member that is behind. */
const MAX_CACHED_BYTES = 65_536;

type Batch = readonly DeliveredEvent[];

/** A statement in flight, and its position in a partition. */
type Reading = { readonly offset: bigint; readonly batches: Promise<ReadonlyMap<string, Batch>> };

/**
 * A reader for all groups of a process, which are usually close together: it caches the last
 * entries of each partition and shares reads in flight, so that one group reads and the others
 * reuse the result. Entries never change, and their offsets have no gaps.
 */
export function createLogReader(db: Queryable): LogReader {
  const cached = new Map<string, Batch>();
  const readings = new Map<string, Reading>();

  const readAll = async (
    requested: readonly Position[],
    limit: number,
  ): Promise<Map<string, Batch>> => {
    const batches = await readLog(db, requested, limit);
    const found = new Map(batches.map((batch) => [keyOf(batch[0] as DeliveredEvent), batch]));
    for (const [key, batch] of found) {
      const bytes = batch.reduce((sum, { payload }) => sum + payload.byteLength, 0);
      if (bytes <= MAX_CACHED_BYTES) cached.set(key, batch);
    }
    return found;
  };

  const read: LogReader["read"] = async (positions, limit) => {
    const found: Batch[] = [];
    const underWay: { readonly key: string; readonly reading: Reading }[] = [];
    const requested: Position[] = [];
    for (const position of positions) {
      const key = keyOf(position);
      const batch = cached.get(key) ?? [];
      const index = Number(position.offset - (batch[0]?.offset ?? 0n));
      const reading = readings.get(key);
      if (index >= 0 && index < batch.length) found.push(batch.slice(index, index + limit));
      else if (reading?.offset === position.offset) underWay.push({ key, reading });
      else requested.push(position);
    }
    if (requested.length > 0) {
      const batches = readAll(requested, limit);
      for (const position of requested) {
        readings.set(keyOf(position), { offset: position.offset, batches });
      }
      try {
        found.push(...(await batches).values());
      } finally {
        for (const key of requested.map(keyOf)) {
          if (readings.get(key)?.batches === batches) readings.delete(key);
        }
      }
    }
    for (const { key, reading } of underWay) {
      const batch = (await reading.batches).get(key);
      if (batch !== undefined) found.push(batch.slice(0, limit));
    }
    return found;
  };
  return { read, outdate: () => readings.clear() };
}
