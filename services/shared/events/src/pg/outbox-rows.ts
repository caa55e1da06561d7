import { assertIdentifier, int8Array, type Queryable } from "@scrip/postgres";

import type { StoredEvent } from "../event-codec.ts";
import { fromRow, type StoredRow } from "../outbox.ts";
import type { Reference } from "./reference-codec.ts";

/** The rows of a schema's outbox by their number. */
type Outbox = ReadonlyMap<bigint, StoredEvent>;

/** Reads the rows that are referred to; those of a dropped partition are missing. */
export async function readOutboxes(
  db: Queryable,
  references: readonly Reference[],
): Promise<ReadonlyMap<string, Outbox>> {
  const bySchema = [...Map.groupBy(references, ({ schema }) => schema)];
  const outboxes = await Promise.all(
    bySchema.map(async ([schema, some]) => [schema, await readOutbox(db, schema, some)] as const),
  );
  return new Map(outboxes);
}

/** The times only exclude partitions. A `Date` is cut to milliseconds, so their range extends by one. */
async function readOutbox(
  db: Queryable,
  schema: string,
  references: readonly Reference[],
): Promise<Outbox> {
  assertIdentifier(schema);
  const since = Math.min(...references.map((reference) => reference.since.getTime()));
  const until = Math.max(...references.map((reference) => reference.until.getTime()));
  const { rows } = await db.query<StoredRow & { readonly seq: bigint }>({
    name: `outbox_rows_${schema}`,
    planning: "indexLookups",
    text: `select seq, project_id, id, key, type, schema_version, entity_version, headers, payload, created_at
             from ${schema}.outbox
            where seq = any ($1) and created_at >= $2 and created_at < $3`,
    values: [
      int8Array(references.flatMap(({ seqs }) => seqs)),
      new Date(since),
      new Date(until + 1),
    ],
  });
  return new Map(rows.map((row) => [row.seq, fromRow(row)]));
}
