import type { JsonObject } from "@bufbuild/protobuf";
import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  packBytes,
  type Queryable,
  textArray,
  unpackBytes,
} from "@scrip/postgres";

import type { RedeemedPoints } from "../domain/points.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import { type PointsJson, pointsToJson, pointsFromJson } from "./points-json.ts";
import {
  usageAfterFromRow,
  failureFromRow,
  type RedemptionKey,
  type UsageAfter,
} from "./redemptions.ts";

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
  /** The amount that was returned. */
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
  /** The points that a loyalty card gets back, and its balances right after. */
  readonly points: RedeemedPoints | null;
};

/** A redemption to mark as rolled back. */
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
    tx.query(insertStatement({ rollbacks })),
    tx.query(markStatement({ rolledBack })),
  ]);
}

const rollbackColumns: ColumnTable<NewRollback> = {
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ id }) => id),
  redemption_id: column.text(({ redemptionId }) => redemptionId),
  parent_id: column.text(({ parentId }) => parentId),
  voucher_id: column.text(({ voucherId }) => voucherId),
  promotion_tier_id: column.text(({ tierId }) => tierId),
  campaign_id: column.text(({ campaignId }) => campaignId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
  status: column.text(({ status }) => status),
  amount: column.int8(({ amount }) => amount),
  reason: column.text(({ reason }) => reason),
  order_mode: column.text(({ orderMode }) => orderMode),
  customer_id: column.text(({ customerId }) => customerId),
  tracking_id: column.text(({ trackingId }) => trackingId),
  metadata: column.json(({ metadata }) => metadata),
  channel_id: column.text(({ channelId }) => channelId),
  channel_type: column.text(({ channelType }) => channelType),
  order_message: column.bytea(({ order }) => order && packBytes(order)),
  redeemed_quantity_after: column.int8(({ after }) => after && after.redeemedQuantity),
  amount_after: column.int8(({ after }) => after && after.amount),
  redeemed_amount_after: column.int8(({ after }) => after && after.redeemedAmount),
  failure_code: column.text(({ failure }) => failure && failure.code),
  failure_message: column.text(({ failure }) => failure && failure.message),
  request_id: column.text(({ requestId }) => requestId),
  points: column.json(({ points }) => pointsToJson(points)),
};

const insertStatement = buildStatement({
  name: "write-rollbacks",
  parts: { rollbacks: batchOf(rollbackColumns) },
  text: ({ rollbacks }) => `
    insert into redemption_rollback (${rollbacks.columns})
    select ${rollbacks.columns} from ${rollbacks.rows("one")}`,
});

/** The rows exist and are locked, so each is found through its key, however many there are. */
const markStatement = buildStatement({
  name: "mark-rolled-back",
  planning: "indexLookups",
  parts: {
    rolledBack: batchOf<RolledBack>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      metadata: column.json(({ metadata }) => metadata),
    }),
  },
  text: ({ rolledBack }) => `
    update redemption
       set status = 'ROLLED_BACK', metadata = change.metadata
      from (select r.place, name.metadata
              from ${rolledBack.rows("name")}
             cross join lateral (
                     select ctid as place from redemption
                      where project_id = name.project_id and id = name.id
                      limit 1
                   ) r) change
     where redemption.ctid = change.place`,
});

export async function hasRollback(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  const { rows } = await tx.query(
    "select 1 as found from redemption_rollback where project_id = $1 and id = $2",
    [projectId, id],
  );
  return rows.length > 0;
}

/** A row of `redemption_rollback` as it is read. */
export type StoredRollback = Omit<NewRollback, "metadata" | "after" | "requestId"> & {
  readonly metadata: JsonObject | null;
  /** Counters of the voucher right after; null when nothing was returned. */
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
  names: readonly RedemptionKey[],
): Promise<readonly StoredRollback[]> => selectRollbacks(db, names, "id = name.id limit 1");

/** The successful rollbacks of these redemptions. */
export const findRollbacksOf = (
  db: Queryable,
  redemptions: readonly RedemptionKey[],
): Promise<readonly StoredRollback[]> =>
  selectRollbacks(db, redemptions, "redemption_id = name.id and status = 'SUCCEEDED' limit 1");

async function selectRollbacks(
  db: Queryable,
  names: readonly RedemptionKey[],
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
  return rows.map((row) => rollbackFromRow(row));
}

function rollbackFromRow(row: RollbackRow): StoredRollback {
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
    order: row.order_message && unpackBytes(row.order_message),
    after: usageAfterFromRow(row),
    failure: failureFromRow(row),
    points: pointsFromJson(row.points),
  };
}
