import { assertIdentifier, type Queryable } from "@scrip/postgres";

import type { EventBus, ReadableOutbox } from "../bus.ts";
import { appendReferences } from "./log.ts";

/** How soon an outbox that could not be read is tried again. */
const CLOSED_MS = 60_000;

/** Opens the outboxes of services for the readers of `db`. */
export function createOutboxes(
  db: Queryable,
  announce: (topics: ReadonlySet<string>) => void,
): { readonly open: NonNullable<EventBus["openOutbox"]> } {
  const opened = new WeakMap<Queryable, ReadableOutbox>();
  const closedUntil = new WeakMap<Queryable, number>();
  return {
    async open(outbox) {
      const known = opened.get(outbox);
      if (known !== undefined || performance.now() < (closedUntil.get(outbox) ?? 0)) return known;
      const schema = await findSchema(db, outbox);
      if (schema === undefined) {
        closedUntil.set(outbox, performance.now() + CLOSED_MS);
        return undefined;
      }
      const readable: ReadableOutbox = {
        async publish(entries) {
          await appendReferences(db, schema, entries);
          announce(new Set(entries.map(({ topic }) => topic)));
        },
      };
      opened.set(outbox, readable);
      return readable;
    },
  };
}

type DatabaseLocation = { readonly schema: string; readonly server: string };

/** The schema of a connection, and a value that differs between all databases of all servers. */
const LOCATION = `select current_schema() as schema,
                      current_database() || ' ' || pg_postmaster_start_time() as server`;

/** The schema of an outbox; undefined when it is in another database than `db`, or closed to its role. */
async function findSchema(db: Queryable, outbox: Queryable): Promise<string | undefined> {
  const [theirs] = (await outbox.query<DatabaseLocation>(LOCATION)).rows;
  const [ours] = (await db.query<DatabaseLocation>(LOCATION)).rows;
  if (theirs === undefined || theirs.server !== ours?.server) return undefined;
  const { schema } = theirs;
  assertIdentifier(schema);
  const { rows } = await db.query<{ readable: boolean }>(
    `select case when has_schema_privilege($1, 'usage')
                 then coalesce(has_table_privilege(to_regclass($1 || '.outbox'), 'select'), false)
                 else false end as readable`,
    [schema],
  );
  return rows[0]?.readable === true ? schema : undefined;
}

/** Batches of a topic that one statement looks at. */
const BATCHES = 10_000;

/**
 * When the oldest event in an outbox was written that a group has not handled. It may be in any batch: those of a relay
 * that was stopped, or of a transaction that committed late, follow the younger events of others.
 */
export async function findUnhandledSince(db: Queryable): Promise<Date | null> {
  const { rows: positions } = await db.query<{ topic: string; log_offset: bigint }>(
    "select topic, min(log_offset) as log_offset from bus_offset group by topic",
  );
  let since: Date | null = null;
  for (const { topic, log_offset: offset } of positions) {
    for (let from = offset; ;) {
      const { rows } = await db.query<{ since: Date | null; last: bigint | null; found: number }>({
        name: "bus_unhandled_since",
        planning: "indexLookups",
        text: `select min(written_at) as since, max(last_offset) as last, count(*)::int as found
                 from (select written_at, last_offset from bus_batch
                        where topic = $1 and last_offset >= $2
                        order by last_offset
                        limit $3) as batch`,
        values: [topic, from, BATCHES],
      });
      const { since: oldest = null, last = null, found = 0 } = rows[0] ?? {};
      if (oldest !== null && (since === null || oldest < since)) since = oldest;
      if (last === null || found < BATCHES) break;
      from = last + 1n;
    }
  }
  return since;
}
