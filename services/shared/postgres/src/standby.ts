import type { BulkReads } from "./bulk-reads.ts";
import type { ProjectQueryable, Queryable } from "./database.ts";
import { sqlState, StandbyConflict } from "./errors.ts";

/** A serialization failure or a deadlock: on a standby, a read meets them only through its recovery. */
const CONFLICTS = new Set<string | undefined>(["40001", "40P01"]);

function rethrow(error: unknown): never {
  throw CONFLICTS.has(sqlState(error)) ? new StandbyConflict(error) : error;
}

/** Reads of a standby, whose conflicts with the recovery count as unavailable. */
export function ofStandby(db: ProjectQueryable): ProjectQueryable {
  const reads = (source: Queryable): Queryable => ({
    query: (statement, values) => source.query<never>(statement, values).catch(rethrow),
  });
  return { ...reads(db), inProject: (projectId) => reads(db.inProject(projectId)) };
}

/** As `ofStandby`. */
export const bulkOfStandby = ({ copyCsv, readRows }: BulkReads): BulkReads => ({
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
