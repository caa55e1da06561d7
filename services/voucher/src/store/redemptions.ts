import type { JsonObject } from "@bufbuild/protobuf";
import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { type ProjectQueryable, type Queryable, textArray, unpackBytes } from "@scrip/postgres";

import type { ProductUnits } from "../domain/counts.ts";
import type { RedeemedPoints } from "../domain/points.ts";
import { type PointsJson, pointsFromJson } from "./points-json.ts";
import { keyFrom, keyOf } from "./redemption-keys.ts";

/** A row of `redemption`; instants are epoch milliseconds. */
export type StoredRedemption = {
  readonly projectId: string;
  readonly id: string;
  /** The parent redemption of a stack. */
  readonly parentId: string | null;
  /** Either this or `tierId`; both are null for a parent. */
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly createdAt: number;
  readonly status: RedemptionStatus;
  readonly amount: bigint | null;
  readonly customerId: string | null;
  readonly trackingId: string | null;
  readonly metadata: JsonObject | null;
  readonly channelId: string;
  readonly channelType: string;
  /** Binary messages. */
  readonly order: Uint8Array | null;
  readonly customer: Uint8Array | null;
  /** Counters of the voucher right after; null when nothing was redeemed. */
  readonly after: UsageAfter | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly sessionKey: string | null;
  /** Binary message: the tier at that time. */
  readonly tier: Uint8Array | null;
  /** Binary message: what the discount applied to; null where no rule limits it to products. */
  readonly scope: Uint8Array | null;
  /** Added to the totals of its campaign and tier. */
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly units: readonly ProductUnits[];
  /** The points that a loyalty card paid. */
  readonly points: RedeemedPoints | null;
};

export type RedemptionStatus = "SUCCEEDED" | "FAILED" | "ROLLED_BACK";

export type UsageAfter = {
  readonly redeemedQuantity: bigint;
  readonly amount: bigint | null;
  readonly redeemedAmount: bigint;
};

type RedemptionRow = {
  project_id: string;
  id: string;
  parent_id: string | null;
  voucher_id: string | null;
  promotion_tier_id: string | null;
  campaign_id: string | null;
  created_at: Date;
  status: RedemptionStatus;
  amount: bigint | null;
  customer_id: string | null;
  tracking_id: string | null;
  metadata: JsonObject | null;
  channel_id: string;
  channel_type: string;
  order_message: Uint8Array | null;
  customer_message: Uint8Array | null;
  redeemed_quantity_after: bigint | null;
  amount_after: bigint | null;
  redeemed_amount_after: bigint | null;
  failure_code: string | null;
  failure_message: string | null;
  session_key: string | null;
  promotion_tier_message: Uint8Array | null;
  order_amount: bigint | null;
  discounted_amount: bigint | null;
  units: Readonly<Record<string, number>> | null;
  points: PointsJson | null;
  scope: Uint8Array | null;
};

const COLUMNS = `project_id, id, parent_id, voucher_id, promotion_tier_id, campaign_id, created_at,
  status, amount, customer_id, tracking_id, metadata, channel_id, channel_type, order_message,
  customer_message, redeemed_quantity_after, amount_after, redeemed_amount_after, failure_code,
  failure_message, session_key, promotion_tier_message, order_amount, discounted_amount, units, points, scope`;

export type RedemptionKey = { readonly projectId: string; readonly id: string };

export async function findRedemption(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<StoredRedemption | undefined> {
  const { rows } = await db.query<RedemptionRow>(
    `select ${COLUMNS} from redemption where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0] && redemptionFromRow(rows[0]);
}

/** The parts of parent redemptions, in the order of their creation. */
export async function findParts(
  db: Queryable,
  parents: readonly RedemptionKey[],
): Promise<readonly StoredRedemption[]> {
  const { rows } = await db.query<RedemptionRow>(
    `select r.*
       from unnest($1::text[], $2::text[]) as name (project_id, id)
      cross join lateral (
              select ${COLUMNS} from redemption
               where project_id = name.project_id and parent_id = name.id
               order by id
               limit ${MOST_PARTS}
            ) r`,
    nameValues(parents),
  );
  return rows.map((row) => redemptionFromRow(row));
}

/** The limit of the contract. */
const MOST_PARTS = 30;

export const findRedemptions = (
  db: Queryable,
  names: readonly RedemptionKey[],
): Promise<readonly StoredRedemption[]> => selectRedemptions(db, names, "");

/**
 * Locks redemptions until the transaction ends, so that no other transaction rolls them back. Rollbacks lock them after vouchers
 * and totals; nothing else locks redemptions.
 */
export const lockRedemptions = (
  tx: Queryable,
  names: readonly RedemptionKey[],
): Promise<readonly StoredRedemption[]> =>
  selectRedemptions(
    tx,
    names.toSorted((a, b) => (`${a.projectId}\n${a.id}` < `${b.projectId}\n${b.id}` ? -1 : 1)),
    "for no key update",
  );

async function selectRedemptions(
  db: Queryable,
  names: readonly RedemptionKey[],
  lock: string,
): Promise<readonly StoredRedemption[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<RedemptionRow>(
    `select r.*
       from unnest($1::text[], $2::text[]) as name (project_id, id)
      cross join lateral (
              select ${COLUMNS} from redemption
               where project_id = name.project_id and id = name.id
               limit 1
                 ${lock}
            ) r`,
    nameValues(names),
  );
  return rows.map((row) => redemptionFromRow(row));
}

const nameValues = (names: readonly RedemptionKey[]) => [
  textArray(names.map(({ projectId }) => projectId)),
  textArray(names.map(({ id }) => id)),
];

export type RedemptionPage = {
  readonly redemptions: readonly StoredRedemption[];
  readonly total: bigint;
};

/** One index has the successful redemptions of a voucher, another one all others. */
const INDEXED = ["status = 'SUCCEEDED'", "status <> 'SUCCEEDED'"];

/**
 * The redemptions of a voucher, newest first. The indexes are sorted by time, so at most one page of each is read, however
 * many redemptions the voucher has.
 */
export async function listRedemptions(
  db: ProjectQueryable,
  voucher: {
    readonly projectId: string;
    readonly voucherId: string;
    readonly createdAt?: TimeRange | undefined;
  },
  page: { readonly limit: number; readonly offset: number },
): Promise<RedemptionPage> {
  const name: unknown[] = [voucher.projectId, voucher.voucherId];
  const range = timeRangeConditions("r.created_at", voucher.createdAt, name)
    .map((condition) => ` and ${condition}`)
    .join("");
  const limit = `$${name.length + 1}`;
  const offset = `$${name.length + 2}`;
  const reads = db.inProject(voucher.projectId);
  const { rows: counts } = await reads.query<{ total: bigint }>(
    `select ${INDEXED.map((which) => `(select count(*) from redemption_of_project r where ${OF_VOUCHER} and ${which}${range})`).join(" + ")} as total`,
    name,
  );
  const { rows } = await reads.query<RedemptionRow>(
    `select r.*
       from (select id from (${INDEXED.map((which) => newestOf(which, { range, limit, offset })).join(" union all ")}) r
               order by created_at desc, id desc
               limit ${limit} offset ${offset}) page
      cross join lateral (
              select ${COLUMNS} from redemption where project_id = $1 and id = page.id limit 1) r
      order by r.created_at desc, r.id desc`,
    [...name, page.limit, page.offset],
  );
  return { redemptions: rows.map((row) => redemptionFromRow(row)), total: counts[0]?.total ?? 0n };
}

const OF_VOUCHER = `${keyOf("r", "voucher_id")} = ${keyFrom("$1", "$2::text")}`;

const newestOf = (
  which: string,
  {
    range,
    limit,
    offset,
  }: { readonly range: string; readonly limit: string; readonly offset: string },
): string =>
  `(select id, created_at from redemption_of_project r
     where ${OF_VOUCHER} and ${which}${range}
     order by created_at desc, id desc
     limit ${limit}::int8 + ${offset}::int8)`;

function redemptionFromRow(row: RedemptionRow): StoredRedemption {
  return {
    projectId: row.project_id,
    id: row.id,
    parentId: row.parent_id,
    voucherId: row.voucher_id,
    tierId: row.promotion_tier_id,
    campaignId: row.campaign_id,
    createdAt: row.created_at.getTime(),
    status: row.status,
    amount: row.amount,
    customerId: row.customer_id,
    trackingId: row.tracking_id,
    metadata: row.metadata,
    channelId: row.channel_id,
    channelType: row.channel_type,
    order: row.order_message && unpackBytes(row.order_message),
    customer: row.customer_message && unpackBytes(row.customer_message),
    after: usageAfterFromRow(row),
    failure: failureFromRow(row),
    sessionKey: row.session_key,
    tier: row.promotion_tier_message && unpackBytes(row.promotion_tier_message),
    orderAmount: row.order_amount ?? 0n,
    discountedAmount: row.discounted_amount ?? 0n,
    units: Object.entries(row.units ?? {}).map(([productId, quantity]) => ({
      productId,
      quantity: BigInt(quantity),
    })),
    points: pointsFromJson(row.points),
    scope: row.scope && unpackBytes(row.scope),
  };
}

/** The outcome columns that redemptions and rollbacks share. */
type OutcomeColumns = Pick<
  RedemptionRow,
  | "redeemed_quantity_after"
  | "amount_after"
  | "redeemed_amount_after"
  | "failure_code"
  | "failure_message"
>;

export function failureFromRow(row: OutcomeColumns): StoredRedemption["failure"] {
  if (row.failure_code === null) return null;
  return { code: row.failure_code, message: row.failure_message ?? "" };
}

export function usageAfterFromRow(row: OutcomeColumns): UsageAfter | null {
  if (row.redeemed_quantity_after === null) return null;
  return {
    redeemedQuantity: row.redeemed_quantity_after,
    amount: row.amount_after,
    redeemedAmount: row.redeemed_amount_after ?? 0n,
  };
}
