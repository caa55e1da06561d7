import type { Queryable } from "@scrip/postgres";

import type { VoucherUsage } from "../domain/commit.ts";
import { type ArrayValue, byteaArray, int8Array, textArray, timestampArray } from "./arrays.ts";

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
  readonly voucherId: string;
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
};

export type NewEvent = {
  readonly projectId: string;
  readonly id: string;
  readonly topic: string;
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
};

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
    ],
  });
  return rows[0]?.answers ?? 0;
}

const WRITE_COMMITS = `
  with usages as (
    insert into voucher_usage as u
           (project_id, voucher_id, definition_version, quantity, redeemed_quantity, amount,
            balance, redeemed_amount, version, ledger_version)
    select * from unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[],
                         $7::int8[], $8::int8[], $9::int8[], $10::int8[])
        on conflict (project_id, voucher_id) do update
       set redeemed_quantity = excluded.redeemed_quantity, balance = excluded.balance,
           redeemed_amount = excluded.redeemed_amount, version = excluded.version,
           ledger_version = excluded.ledger_version
  ), redemptions as (
    insert into redemption
           (project_id, id, voucher_id, created_at, status, amount, customer_id, tracking_id,
            metadata, channel_id, channel_type, order_message, customer_message,
            redeemed_quantity_after, amount_after, redeemed_amount_after, failure_code,
            failure_message, request_id)
    select * from unnest($11::text[], $12::text[], $13::text[], $14::timestamptz[], $15::text[],
                         $16::int8[], $17::text[], $18::text[], $19::text[]::jsonb[], $20::text[],
                         $21::text[], $22::bytea[], $23::bytea[], $24::int8[], $25::int8[],
                         $26::int8[], $27::text[], $28::text[], $29::text[])
  ), ledger_entries as (
    insert into voucher_ledger_entry
           (project_id, voucher_id, version, amount, balance_after, redemption_id, created_at)
    select * from unnest($30::text[], $31::text[], $32::int8[], $33::int8[], $34::int8[],
                         $35::text[], $36::timestamptz[])
  ), events as (
    insert into outbox (project_id, id, topic, key, payload, type)
    select *, 'scrip.events.v1.RedemptionMade' from unnest($37::text[], $38::text[], $39::text[], $40::text[], $41::bytea[])
  ), answers as (
    insert into idempotency (project_id, key, request_hash, outcome)
    select * from unnest($42::text[], $43::text[], $44::bytea[], $45::bytea[])
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
];

const redemptionValues = (rows: readonly NewRedemption[]): ArrayValue[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ id }) => id)),
  textArray(rows.map(({ voucherId }) => voucherId)),
  timestampArray(rows.map(({ createdAt }) => createdAt)),
  textArray(rows.map(({ status }) => status)),
  int8Array(rows.map(({ amount }) => amount)),
  textArray(rows.map(({ customerId }) => customerId)),
  textArray(rows.map(({ trackingId }) => trackingId)),
  textArray(rows.map(({ metadata }) => metadata)),
  textArray(rows.map(({ channelId }) => channelId)),
  textArray(rows.map(({ channelType }) => channelType)),
  byteaArray(rows.map(({ order }) => order)),
  byteaArray(rows.map(({ customer }) => customer)),
  int8Array(rows.map(({ after }) => after && after.redeemedQuantity)),
  int8Array(rows.map(({ after }) => after && after.amount)),
  int8Array(rows.map(({ after }) => after && after.redeemedAmount)),
  textArray(rows.map(({ failure }) => failure && failure.code)),
  textArray(rows.map(({ failure }) => failure && failure.message)),
  textArray(rows.map(({ requestId }) => requestId)),
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

const eventValues = (rows: readonly NewEvent[]): ArrayValue[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ id }) => id)),
  textArray(rows.map(({ topic }) => topic)),
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
