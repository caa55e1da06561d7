import type { JsonObject } from "@bufbuild/protobuf";
import { byteaArray, int8Array, type Queryable, textArray, timestampArray } from "@scrip/postgres";

import type { RedeemedPoints } from "../domain/points.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import { type PointsJson, pointsJson, pointsOf } from "./points-json.ts";
import { afterOf, failureOf, type RedemptionName, type UsageAfter } from "./redemptions.ts";

/** A row of `redemption_rollback`; instants are epoch milliseconds. */
export type NewRollback = {
  readonly projectId: string;
  readonly id: string;
  readonly redemptionId: string;
  readonly parentId: string | null;
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly createdAt: number;
  readonly status: "SUCCEEDED" | "FAILED";
  /** What was given back. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly orderMode: string;
  readonly customerId: string | null;
  readonly trackingId: string | null;
  readonly metadata: string | null;
  readonly channelId: string;
  readonly channelType: string;
  readonly order: Uint8Array | null;
  readonly after: VoucherUsage | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly requestId: string;
  /** What a loyalty card gets back, and how it stands right after. */
  readonly points: RedeemedPoints | null;
};

/** A redemption that is rolled back from now on. */
export type RolledBack = {
  readonly projectId: string;
  readonly id: string;
  readonly metadata: string | null;
};

/** The redemptions must be locked. */
export async function writeRollbacks(
  tx: Queryable,
  {
    rollbacks,
    rolledBack,
  }: { readonly rollbacks: readonly NewRollback[]; readonly rolledBack: readonly RolledBack[] },
): Promise<void> {
  if (rollbacks.length === 0) return;
  await Promise.all([
    tx.query({
      name: "write-rollbacks",
      text: `insert into redemption_rollback
                    (project_id, id, redemption_id, parent_id, voucher_id, promotion_tier_id,
                     campaign_id, created_at, status, amount, reason, order_mode, customer_id,
                     tracking_id, metadata, channel_id, channel_type, order_message,
                     redeemed_quantity_after, amount_after, redeemed_amount_after, failure_code,
                     failure_message, request_id, points)
             select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                                  $6::text[], $7::text[], $8::timestamptz[], $9::text[],
                                  $10::int8[], $11::text[], $12::text[], $13::text[], $14::text[],
                                  $15::text[]::jsonb[], $16::text[], $17::text[], $18::bytea[],
                                  $19::int8[], $20::int8[], $21::int8[], $22::text[], $23::text[],
                                  $24::text[], $25::text[]::jsonb[])`,
      values: rollbackValues(rollbacks),
    }),
    // Its row exists and is held, so each is found through its key, however many there are.
    tx.query({
      name: "mark-rolled-back",
      text: `update redemption
                set status = 'ROLLED_BACK', metadata = change.metadata
               from (select r.place, name.metadata
                       from unnest($1::text[], $2::text[], $3::text[]::jsonb[])
                              as name (project_id, id, metadata)
                      cross join lateral (
                              select ctid as place from redemption
                               where project_id = name.project_id and id = name.id
                               limit 1
                            ) r) change
              where redemption.ctid = change.place`,
      values: [
        textArray(rolledBack.map(({ projectId }) => projectId)),
        textArray(rolledBack.map(({ id }) => id)),
        textArray(rolledBack.map(({ metadata }) => metadata)),
      ],
    }),
  ]);
}

const rollbackValues = (rows: readonly NewRollback[]) => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ id }) => id)),
  textArray(rows.map(({ redemptionId }) => redemptionId)),
  textArray(rows.map(({ parentId }) => parentId)),
  textArray(rows.map(({ voucherId }) => voucherId)),
  textArray(rows.map(({ tierId }) => tierId)),
  textArray(rows.map(({ campaignId }) => campaignId)),
  timestampArray(rows.map(({ createdAt }) => createdAt)),
  textArray(rows.map(({ status }) => status)),
  int8Array(rows.map(({ amount }) => amount)),
  textArray(rows.map(({ reason }) => reason)),
  textArray(rows.map(({ orderMode }) => orderMode)),
  textArray(rows.map(({ customerId }) => customerId)),
  textArray(rows.map(({ trackingId }) => trackingId)),
  textArray(rows.map(({ metadata }) => metadata)),
  textArray(rows.map(({ channelId }) => channelId)),
  textArray(rows.map(({ channelType }) => channelType)),
  byteaArray(rows.map(({ order }) => order)),
  int8Array(rows.map(({ after }) => after && after.redeemedQuantity)),
  int8Array(rows.map(({ after }) => after && after.amount)),
  int8Array(rows.map(({ after }) => after && after.redeemedAmount)),
  textArray(rows.map(({ failure }) => failure && failure.code)),
  textArray(rows.map(({ failure }) => failure && failure.message)),
  textArray(rows.map(({ requestId }) => requestId)),
  textArray(rows.map(({ points }) => pointsJson(points))),
];

export async function hasRollback(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  const { rows } = await tx.query(
    "select 1 as found from redemption_rollback where project_id = $1 and id = $2",
    [projectId, id],
  );
  return rows.length > 0;
}

/** A rollback as it lies in the books. */
export type StoredRollback = Omit<NewRollback, "metadata" | "after" | "requestId"> & {
  readonly metadata: JsonObject | null;
  /** The voucher right after; null when nothing was given back. */
  readonly after: UsageAfter | null;
};

type RollbackRow = {
  project_id: string;
  id: string;
  redemption_id: string;
  parent_id: string | null;
  voucher_id: string | null;
  promotion_tier_id: string | null;
  campaign_id: string | null;
  created_at: Date;
  status: "SUCCEEDED" | "FAILED";
  amount: bigint | null;
  reason: string | null;
  order_mode: string;
  customer_id: string | null;
  tracking_id: string | null;
  metadata: JsonObject | null;
  channel_id: string;
  channel_type: string;
  order_message: Uint8Array | null;
  redeemed_quantity_after: bigint | null;
  amount_after: bigint | null;
  redeemed_amount_after: bigint | null;
  failure_code: string | null;
  failure_message: string | null;
  points: PointsJson | null;
};

export const findRollbacks = (
  db: Queryable,
  names: readonly RedemptionName[],
): Promise<readonly StoredRollback[]> => selectRollbacks(db, names, "id = name.id limit 1");

/** What took these redemptions back. */
export const findRollbacksOf = (
  db: Queryable,
  redemptions: readonly RedemptionName[],
): Promise<readonly StoredRollback[]> =>
  selectRollbacks(db, redemptions, "redemption_id = name.id and status = 'SUCCEEDED' limit 1");

async function selectRollbacks(
  db: Queryable,
  names: readonly RedemptionName[],
  condition: string,
): Promise<readonly StoredRollback[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<RollbackRow>(
    `select r.*
       from unnest($1::text[], $2::text[]) as name (project_id, id)
      cross join lateral (
              select * from redemption_rollback
               where project_id = name.project_id and ${condition}
            ) r`,
    [textArray(names.map(({ projectId }) => projectId)), textArray(names.map(({ id }) => id))],
  );
  return rows.map((row) => fromRow(row));
}

function fromRow(row: RollbackRow): StoredRollback {
  return {
    projectId: row.project_id,
    id: row.id,
    redemptionId: row.redemption_id,
    parentId: row.parent_id,
    voucherId: row.voucher_id,
    tierId: row.promotion_tier_id,
    campaignId: row.campaign_id,
    createdAt: row.created_at.getTime(),
    status: row.status,
    amount: row.amount,
    reason: row.reason,
    orderMode: row.order_mode,
    customerId: row.customer_id,
    trackingId: row.tracking_id,
    metadata: row.metadata,
    channelId: row.channel_id,
    channelType: row.channel_type,
    order: row.order_message,
    after: afterOf(row),
    failure: failureOf(row),
    points: pointsOf(row.points),
  };
}
