import {
  type ArrayValue,
  byteaArray,
  int4Array,
  int8Array,
  type Queryable,
  sparseBytea,
  sparseInt8,
  sparseText,
  textArray,
  timestampArray,
} from "@scrip/postgres";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";

import type { VoucherUsage } from "../domain/usage.ts";

export type LedgerEntry = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly version: bigint;
  readonly amount: bigint;
  readonly balanceAfter: bigint;
  readonly redemptionId: string;
  readonly createdAt: number;
};

/** A row of `redemption`; instants are epoch milliseconds. */
export type NewRedemption = {
  readonly projectId: string;
  readonly id: string;
  /** The stacked redemption that this one is a part of. */
  readonly parentId: string | null;
  /** One of these two, or none of a parent. */
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly createdAt: number;
  readonly status: "SUCCEEDED" | "FAILED";
  readonly amount: bigint | null;
  readonly customerId: string | null;
  readonly trackingId: string | null;
  readonly metadata: string | null;
  readonly channelId: string;
  readonly channelType: string;
  readonly order: Uint8Array | null;
  readonly customer: Uint8Array | null;
  /** The voucher right after; null when nothing was taken. */
  readonly after: VoucherUsage | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly requestId: string;
  readonly sessionKey: string | null;
  /** What it added to the sums of its campaign and tier. */
  readonly orderAmount: bigint | null;
  readonly discountedAmount: bigint | null;
  /** JSON: what a loyalty card gave. */
  readonly points: string | null;
  /** JSON: a number for each product. */
  readonly units: string | null;
  /** Binary messages. */
  readonly tier: Uint8Array | null;
  readonly explanation: Uint8Array | null;
};

export type NewEvent = {
  readonly projectId: string;
  readonly id: string;
  readonly topic: string;
  readonly type: string;
  readonly key: string;
  readonly payload: Uint8Array;
};

export type NewAnswer = {
  readonly projectId: string;
  readonly key: string;
  readonly requestHash: Uint8Array;
  readonly outcome: Uint8Array;
};

/** Everything that a batch of commands changes. */
export type CommitWrites = {
  readonly usages: readonly VoucherUsage[];
  readonly redemptions: readonly NewRedemption[];
  readonly ledgerEntries: readonly LedgerEntry[];
  readonly events: readonly NewEvent[];
  readonly answers: readonly NewAnswer[];
  /** Which message the answers are. */
  readonly answerKind: AnswerKind;
};

export type AnswerKind = "redemption" | "rollback";

/**
 * Writes a batch in one statement and answers how many of its answers went in: fewer than given
 * means that another transaction answered under the same key meanwhile, and the caller must roll
 * back. The usages must be locked. They exist, so the insert always meets a conflict: that way each
 * row is found through its key, whatever the planner thinks of the size of the batch.
 */
export async function writeCommits(tx: Queryable, writes: CommitWrites): Promise<number> {
  const { rows } = await tx.query<{ answers: number }>({
    name: "write-commits",
    text: WRITE_COMMITS,
    values: [
      ...usageValues(writes.usages),
      ...redemptionValues(writes.redemptions),
      ...ledgerValues(writes.ledgerEntries),
      ...eventValues(writes.events),
      ...answerValues(writes.answers),
      writes.answerKind,
      sparseText(writes.redemptions.map(({ points }) => points)),
    ],
  });
  return rows[0]?.answers ?? 0;
}

/** Of nearly all events: it stands in the statement instead of travelling with each of them. */
const USUAL_TYPE = RedemptionMadeSchema.typeName;

const WRITE_COMMITS = `
  with usages as (
    insert into voucher_usage as u
           (project_id, voucher_id, definition_version, quantity, redeemed_quantity, amount,
            balance, redeemed_amount, reserved, version, ledger_version)
    select project_id, voucher_id, definition_version, quantity, redeemed_quantity, amount,
           balance, redeemed_amount, reserved <> 0, version, ledger_version
      from unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[],
                  $7::int8[], $8::int8[], $9::int8[], $10::int8[], $11::int4[])
             as one (project_id, voucher_id, definition_version, quantity, redeemed_quantity,
                     amount, balance, redeemed_amount, version, ledger_version, reserved)
        on conflict (project_id, voucher_id) do update
       set redeemed_quantity = excluded.redeemed_quantity, balance = excluded.balance,
           redeemed_amount = excluded.redeemed_amount, reserved = excluded.reserved,
           version = excluded.version, ledger_version = excluded.ledger_version
  ), redemptions as (
    insert into redemption
           (project_id, id, voucher_id, created_at, status, amount, customer_id, tracking_id,
            metadata, channel_id, channel_type, order_message, customer_message,
            redeemed_quantity_after, amount_after, redeemed_amount_after, failure_code,
            failure_message, request_id, parent_id, promotion_tier_id, campaign_id, session_key,
            order_amount, discounted_amount, units, promotion_tier_message, explanation, points)
    select * from unnest($12::text[], $13::text[], $14::text[], $15::timestamptz[], $16::text[],
                         $17::int8[], $18::text[], $19::text[], $20::text[]::jsonb[], $21::text[],
                         $22::text[], $23::bytea[], $24::bytea[], $25::int8[], $26::int8[],
                         $27::int8[], $28::text[], $29::text[], $30::text[], $31::text[],
                         $32::text[], $33::text[], $34::text[], $35::int8[], $36::int8[],
                         $37::text[]::jsonb[], $38::bytea[], $39::bytea[], $58::text[]::jsonb[])
  ), ledger_entries as (
    insert into voucher_ledger_entry
           (project_id, voucher_id, version, amount, balance_after, redemption_id, created_at)
    select * from unnest($40::text[], $41::text[], $42::int8[], $43::int8[], $44::int8[],
                         $45::text[], $46::timestamptz[])
  ), events as (
    insert into outbox (project_id, id, topic, type, key, payload)
    select project_id, id, topic, coalesce(type, '${USUAL_TYPE}'), key, payload
      from unnest($47::text[], $48::text[], $49::text[], $50::text[], $51::text[], $52::bytea[])
             as one (project_id, id, topic, type, key, payload)
  ), answers as (
    insert into idempotency (project_id, key, request_hash, outcome, kind)
    select *, $57::text from unnest($53::text[], $54::text[], $55::bytea[], $56::bytea[])
        on conflict do nothing
    returning 1
  )
  select count(*)::int4 as answers from answers`;

const usageValues = (rows: readonly VoucherUsage[]): ArrayValue[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ voucherId }) => voucherId)),
  int8Array(rows.map(({ definitionVersion }) => definitionVersion)),
  int8Array(rows.map(({ quantity }) => quantity)),
  int8Array(rows.map(({ redeemedQuantity }) => redeemedQuantity)),
  int8Array(rows.map(({ amount }) => amount)),
  int8Array(rows.map(({ balance }) => balance)),
  int8Array(rows.map(({ redeemedAmount }) => redeemedAmount)),
  int8Array(rows.map(({ version }) => version)),
  int8Array(rows.map(({ ledgerVersion }) => ledgerVersion)),
  int4Array(rows.map(({ reserved }) => (reserved ? 1 : 0))),
];

const redemptionValues = (rows: readonly NewRedemption[]): (ArrayValue | null)[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ id }) => id)),
  textArray(rows.map(({ voucherId }) => voucherId)),
  timestampArray(rows.map(({ createdAt }) => createdAt)),
  textArray(rows.map(({ status }) => status)),
  sparseInt8(rows.map(({ amount }) => amount)),
  sparseText(rows.map(({ customerId }) => customerId)),
  sparseText(rows.map(({ trackingId }) => trackingId)),
  sparseText(rows.map(({ metadata }) => metadata)),
  textArray(rows.map(({ channelId }) => channelId)),
  textArray(rows.map(({ channelType }) => channelType)),
  sparseBytea(rows.map(({ order }) => order)),
  sparseBytea(rows.map(({ customer }) => customer)),
  sparseInt8(rows.map(({ after }) => after && after.redeemedQuantity)),
  sparseInt8(rows.map(({ after }) => after && after.amount)),
  sparseInt8(rows.map(({ after }) => after && after.redeemedAmount)),
  sparseText(rows.map(({ failure }) => failure && failure.code)),
  sparseText(rows.map(({ failure }) => failure && failure.message)),
  textArray(rows.map(({ requestId }) => requestId)),
  sparseText(rows.map(({ parentId }) => parentId)),
  sparseText(rows.map(({ tierId }) => tierId)),
  sparseText(rows.map(({ campaignId }) => campaignId)),
  sparseText(rows.map(({ sessionKey }) => sessionKey)),
  sparseInt8(rows.map(({ orderAmount }) => orderAmount)),
  sparseInt8(rows.map(({ discountedAmount }) => discountedAmount)),
  sparseText(rows.map(({ units }) => units)),
  sparseBytea(rows.map(({ tier }) => tier)),
  sparseBytea(rows.map(({ explanation }) => explanation)),
];

const ledgerValues = (rows: readonly LedgerEntry[]): ArrayValue[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ voucherId }) => voucherId)),
  int8Array(rows.map(({ version }) => version)),
  int8Array(rows.map(({ amount }) => amount)),
  int8Array(rows.map(({ balanceAfter }) => balanceAfter)),
  textArray(rows.map(({ redemptionId }) => redemptionId)),
  timestampArray(rows.map(({ createdAt }) => createdAt)),
];

const eventValues = (rows: readonly NewEvent[]): (ArrayValue | null)[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ id }) => id)),
  textArray(rows.map(({ topic }) => topic)),
  sparseText(rows.map(({ type }) => (type === USUAL_TYPE ? null : type))),
  textArray(rows.map(({ key }) => key)),
  byteaArray(rows.map(({ payload }) => payload)),
];

/** Sorted, so that two batches that share keys wait for each other in one order. */
function answerValues(rows: readonly NewAnswer[]): ArrayValue[] {
  const sorted = rows.toSorted((a, b) =>
    `${a.projectId}\n${a.key}` < `${b.projectId}\n${b.key}` ? -1 : 1,
  );
  return [
    textArray(sorted.map(({ projectId }) => projectId)),
    textArray(sorted.map(({ key }) => key)),
    byteaArray(sorted.map(({ requestHash }) => requestHash)),
    byteaArray(sorted.map(({ outcome }) => outcome)),
  ];
}

export async function hasRedemption(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> {
  const { rows } = await tx.query(
    "select 1 as found from redemption where project_id = $1 and id = $2",
    [projectId, id],
  );
  return rows.length > 0;
}
