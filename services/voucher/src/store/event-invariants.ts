import { fromBinary } from "@bufbuild/protobuf";
import type { Chunk, Queryable, Violation } from "@scrip/postgres";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";

import { REDEMPTIONS_TOPIC } from "../events/redemption-made.ts";

export type EventCheckRequest = {
  readonly projectId: string;
  /** The payloads on the bus, read after the outbox; null when the bus cannot be read. */
  readonly published: AsyncIterable<Uint8Array> | null;
  /** Older events may have been dropped; real time, in milliseconds. */
  readonly publishedSince: number;
  /** Real time, in milliseconds. */
  readonly now: number;
};

/** Redemptions younger than this may have been committed while the events were read. */
const SETTLED_MS = 30_000;
/** One hour less than the bus keeps its events by default. */
const PROVABLE_MS = 71 * 3_600_000;
/** Bounds memory to about 200 MB. */
const MOST_EVENTS = 2_000_000;
const CHUNK = 5_000;

/**
 * Invariant I5: each redemption has one event, and each event has a redemption. The outbox retains its rows, so an event
 * that is neither there nor on the bus was lost. Only events within the retention of both can be checked; without a bus,
 * only the outbox.
 */
export async function checkRedemptionEvents(
  db: Queryable,
  { projectId, published, publishedSince, now }: EventCheckRequest,
): Promise<Omit<Chunk, "last">> {
  const violations: Violation[] = [];
  /** The event of each redemption; unknown for those on the bus. */
  const announced = new Map<string, string | undefined>();
  const writtenSince = await findWrittenSince(db);
  for await (const { id, payload } of readOutbox(db, projectId)) {
    const { redemptionId } = fromBinary(RedemptionMadeSchema, payload);
    const other = announced.get(redemptionId);
    if (other !== undefined && other !== id) {
      violations.push({ subject: redemptionId, details: `is announced twice, also by ${id}` });
    }
    if (announced.size >= MOST_EVENTS) return tooMany(projectId);
    announced.set(redemptionId, id);
  }
  if (published === null) return { checked: announced.size, violations };
  // The bus delivers at least once, so a duplicate on it is not a violation.
  for await (const payload of published) {
    const { redemptionId } = fromBinary(RedemptionMadeSchema, payload);
    if (announced.size >= MOST_EVENTS) return tooMany(projectId);
    if (!announced.has(redemptionId)) announced.set(redemptionId, undefined);
  }
  const oldest = idAt(Math.max(now - PROVABLE_MS, publishedSince, writtenSince));
  const newest = idAt(now - SETTLED_MS);
  let checked = 0;
  for await (const id of readMade(db, projectId, oldest)) {
    const isAnnounced = announced.delete(id);
    if (id > newest) continue;
    checked += 1;
    if (!isAnnounced)
      violations.push({ subject: id, details: "has no event in the outbox or the event log" });
  }
  for (const id of announced.keys()) {
    if (id >= oldest && id <= newest) {
      violations.push({ subject: id, details: "has an event, but is not a successful redemption" });
    }
  }
  return { checked, violations };
}

/** Ids begin with the real time of their creation, independent of the project's clock. */
const idAt = (milliseconds: number): string => `r_${milliseconds.toString(16).padStart(12, "0")}`;

const tooMany = (projectId: string): Omit<Chunk, "last"> => ({
  checked: 0,
  violations: [
    {
      subject: projectId,
      details: `more than ${MOST_EVENTS} events are kept: too many to check`,
    },
  ],
});

/** The outbox contains all events since then; 0 while no partition was dropped. */
async function findWrittenSince(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ since: Date | null }>(
    String.raw`select min((regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz) as since
       from pg_inherits
       join pg_class as part on part.oid = inhrelid
      cross join lateral pg_get_expr(part.relpartbound, part.oid) as bound
      where inhparent = 'outbox'::regclass`,
  );
  return rows[0]?.since?.getTime() ?? 0;
}

async function* readOutbox(
  db: Queryable,
  projectId: string,
): AsyncGenerator<{ id: string; payload: Uint8Array }> {
  let after = 0n;
  for (;;) {
    const { rows } = await db.query<{ seq: bigint; id: string; payload: Uint8Array }>(
      `select seq, id, payload from outbox
        where project_id = $1 and seq > $2 and topic = '${REDEMPTIONS_TOPIC}'
          and type = '${RedemptionMadeSchema.typeName}'
        order by seq
        limit ${CHUNK}`,
      [projectId, after],
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return;
    after = last.seq;
  }
}

async function* readMade(db: Queryable, projectId: string, from: string): AsyncGenerator<string> {
  let after = from;
  for (;;) {
    const { rows } = await db.query<{ id: string }>(
      `select id from redemption
        where project_id = $1 and id > $2 and status <> 'FAILED'
          -- A parent redemption has no event.
          and (voucher_id is not null or promotion_tier_id is not null)
        order by id
        limit ${CHUNK}`,
      [projectId, after],
    );
    yield* rows.map(({ id }) => id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return;
    after = last.id;
  }
}
