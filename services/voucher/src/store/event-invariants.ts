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
 * Invariant I5: each redemption has one event, and each event has a redemption. The relay publishes rows of the outbox
 * and deletes them afterwards, so an event that is in neither was lost when the bus is read last. Only events within
 * the retention of the bus can be checked; without a bus, only the outbox.
 */
export async function checkRedemptionEvents(
  db: Queryable,
  { projectId, published, publishedSince, now }: EventCheckRequest,
): Promise<Omit<Chunk, "last">> {
  const violations: Violation[] = [];
  const announced = new Set<string>();
  for await (const { id, payload } of readOutbox(db, projectId)) {
    const { redemptionId } = fromBinary(RedemptionMadeSchema, payload);
    if (announced.has(redemptionId)) {
      violations.push({ subject: redemptionId, details: `is announced twice, also by ${id}` });
    }
    announced.add(redemptionId);
  }
  if (published === null) return { checked: announced.size, violations };
  // The bus delivers at least once, so a duplicate on it is not a violation.
  for await (const payload of published) {
    const { redemptionId } = fromBinary(RedemptionMadeSchema, payload);
    if (announced.size >= MOST_EVENTS) {
      const details = `more than ${MOST_EVENTS} events are kept: too many to check`;
      return { checked: 0, violations: [{ subject: projectId, details }] };
    }
    announced.add(redemptionId);
  }
  const oldest = idAt(Math.max(now - PROVABLE_MS, publishedSince));
  const newest = idAt(now - SETTLED_MS);
  let checked = 0;
  for await (const id of readMade(db, projectId, oldest)) {
    const isAnnounced = announced.delete(id);
    if (id > newest) continue;
    checked += 1;
    if (!isAnnounced) violations.push({ subject: id, details: "is announced by no event" });
  }
  for (const id of announced) {
    if (id >= oldest && id <= newest) {
      violations.push({ subject: id, details: "is announced, and is no successful redemption" });
    }
  }
  return { checked, violations };
}

/** Ids begin with the real time of their creation, independent of the project's clock. */
const idAt = (milliseconds: number): string => `r_${milliseconds.toString(16).padStart(12, "0")}`;

async function* readOutbox(
  db: Queryable,
  projectId: string,
): AsyncGenerator<{ id: string; payload: Uint8Array }> {
  let after = "";
  for (;;) {
    const { rows } = await db.query<{ id: string; payload: Uint8Array }>(
      `select id, payload from outbox
        where project_id = $1 and id > $2 and topic = '${REDEMPTIONS_TOPIC}'
          and type = '${RedemptionMadeSchema.typeName}'
        order by id
        limit ${CHUNK}`,
      [projectId, after],
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return;
    after = last.id;
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
