import { fromBinary } from "@bufbuild/protobuf";
import { processEnded, type Queryable, unpackBytes } from "@scrip/postgres";
import { type Order, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";

import type { OrderKey } from "./orders.ts";

/** Lifetime of a claim: longer than any request. */
export const CLAIM_SECONDS = 15;

/**
 * How long a claim lasts at least when its process is killed, or when it is unknown whether its request committed: time
 * for commits of the voucher service that are still running.
 */
const ORPHANED_CLAIM_SECONDS = 2;

/** SQL: a claim that starts now. Not `now()`, the start of a transaction that may have waited for the order. */
export const CLAIM_END = `clock_timestamp() + interval '${CLAIM_SECONDS} seconds'`;

/** SQL condition: a claim has lasted as long as one does at least. */
const isOrphaned = (until: string): string =>
  `${until} < clock_timestamp() + interval '${CLAIM_SECONDS - ORPHANED_CLAIM_SECONDS} seconds'`;

/** SQL condition on the columns of a claim: it has expired, or its process was killed. */
export const claimEnded = (until: string, process: string): string =>
  `(${until} < clock_timestamp() or (${isOrphaned(until)} and ${processEnded(process)}))`;

export type OrderClaimRequest = {
  readonly projectId: string;
  readonly key: OrderKey;
  /** The claimant: the idempotency key, or the request id. */
  readonly by: string;
  /** The process of the claimant (`ProcessLock`). */
  readonly process: number;
  /** Id of the order if the source id is new. */
  readonly newId: string;
  readonly at: Date;
};

export type ClaimOutcome =
  | {
      readonly kind: "claimed";
      readonly id: string;
      readonly order: Order | null;
      /** When the claim ends, to the microsecond: a later claim of the same claimant has another end. */
      readonly until: string;
    }
  /** Another request holds the claim. */
  | { readonly kind: "taken"; readonly by: string }
  | { readonly kind: "not_found" };

/**
 * Claims an order for one request, so that two never calculate on the same figures
 * (services/decisions/0006-order-claims.md). Allocates the id of a new source id. In its process, a request runs once at a
 * time: an earlier claim of it, whose response was lost, does not keep its repetitions waiting.
 */
export async function claimOrder(db: Queryable, claim: OrderClaimRequest): Promise<ClaimOutcome> {
  const { projectId, key, by, process } = claim;
  if (key.column === "source_id") {
    const { rows } = await db.query<{ until: string }>(
      `insert into shop_order (project_id, id, source_id, claimed_by, claimed_process, claimed_until, created_at)
       values ($1, $2, $3, $4, $5, ${CLAIM_END}, $6)
       on conflict (project_id, source_id) do nothing
       returning claimed_until::text as until`,
      [projectId, claim.newId, key.value, by, process, claim.at],
    );
    const [inserted] = rows;
    if (inserted !== undefined) {
      return { kind: "claimed", id: claim.newId, order: null, until: inserted.until };
    }
  }
  const where = matches(key);
  const { rows } = await db.query<{ id: string; document: Buffer | null; until: string }>(
    `update shop_order
        set claimed_by = $3, claimed_process = $4, claimed_until = ${CLAIM_END},
            awaited_process = null, awaited_until = null
      where ${where}
        and (claimed_until is null or ${claimEnded("claimed_until", "claimed_process")}
             or (claimed_by = $3 and claimed_process = $4 and ${isOrphaned("claimed_until")}))
        and (awaited_until is null or awaited_process = $4 or awaited_until < clock_timestamp())
      returning id, document, claimed_until::text as until`,
    [projectId, key.value, by, process],
  );
  const row = rows[0];
  if (row !== undefined) {
    const order = row.document === null ? null : fromBinary(OrderSchema, unpackBytes(row.document));
    return { kind: "claimed", id: row.id, order, until: row.until };
  }
  const { rows: others } = await db.query<{ claimed_by: string | null }>(
    `select claimed_by from shop_order where ${where}`,
    [projectId, key.value],
  );
  // The claimant of a new source id may have released it since.
  return others[0] === undefined && key.column === "id"
    ? { kind: "not_found" }
    : { kind: "taken", by: others[0]?.claimed_by ?? "" };
}

export type OrderWait = Pick<OrderClaimRequest, "projectId" | "key" | "process">;

/** How long a process that waits has the next turn unless it asks again: several of its attempts to claim. */
const TURN_MS = 500;

/**
 * Reserves the next turn with a claimed order for a process: until then, other processes cannot claim it. The process
 * that holds the claim could otherwise pass the order from one of its requests to the next forever.
 */
export async function awaitOrder(
  db: Queryable,
  { projectId, key, process }: OrderWait,
): Promise<void> {
  await db.query(
    `update shop_order
        set awaited_process = $3,
            awaited_until = clock_timestamp() + interval '${TURN_MS} milliseconds'
      where ${matches(key)}
        and claimed_until is not null
        and (awaited_until is null
             or awaited_until < clock_timestamp()
                + case when awaited_process = $3 then interval '${TURN_MS / 2} milliseconds' else interval '0' end)`,
    [projectId, key.value, process],
  );
}

/** SQL condition on the columns of an order. By id, an order that was never stored does not exist. */
const matches = ({ column }: OrderKey): string =>
  `project_id = $1 and ${column === "id" ? "id = $2 and document is not null" : "source_id = $2"}`;

export type HeldOrder = {
  readonly projectId: string;
  readonly id: string;
  readonly by: string;
  /** Of its claim. */
  readonly until: string;
};

/** Releases a claim when nothing was committed. A repetition does not release a later claim of the same claimant. */
export async function releaseOrder(db: Queryable, claim: HeldOrder): Promise<void> {
  const values = [claim.projectId, claim.id, claim.by, claim.until];
  await db.query(
    `delete from shop_order
      where project_id = $1 and id = $2 and claimed_by = $3 and claimed_until = $4::timestamptz
        and document is null`,
    values,
  );
  await db.query(
    `update shop_order
        set claimed_by = null, claimed_process = null, claimed_until = null
      where project_id = $1 and id = $2 and claimed_by = $3 and claimed_until = $4::timestamptz`,
    values,
  );
}

/** Ends a claim soon, when it is unknown whether something was committed. */
export async function abandonOrder(db: Queryable, claim: HeldOrder): Promise<void> {
  await db.query(
    `update shop_order
        set claimed_until = least(claimed_until, clock_timestamp() + interval '${ORPHANED_CLAIM_SECONDS} seconds')
      where project_id = $1 and id = $2 and claimed_by = $3 and claimed_until = $4::timestamptz`,
    [claim.projectId, claim.id, claim.by, claim.until],
  );
}
