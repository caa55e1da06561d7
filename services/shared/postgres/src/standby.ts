import type { BulkReads } from "./bulk-reads.ts";
import { sqlState, StandbyConflict } from "./errors.ts";

/** A serialization failure or a deadlock: on a standby, a read meets them only through its recovery. */
const CONFLICTS = new Set<string | undefined>(["40001", "40P01"]);

function rethrow(error: unknown): never {
  throw CONFLICTS.has(sqlState(error)) ? new StandbyConflict(error) : error;
}

/** A read of a standby, whose conflicts with the recovery count as unavailable. */
export const onStandby = <Result>(_: unknown, read: () => Promise<Result>): Promise<Result> =>
  read().catch(rethrow);

/** As `onStandby`. */
export const bulkOnStandby = ({ copyCsv, readRows }: BulkReads): BulkReads => ({
  copyCsv: (statement) => each(copyCsv(statement)),
  readRows: (statement) => each(readRows(statement)),
});

async function* each<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  try {
    yield* items;
  } catch (error) {
    rethrow(error);
  }
}
