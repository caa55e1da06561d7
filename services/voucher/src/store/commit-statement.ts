import { type Origin, storedHeaders } from "@scrip/events";
import {
  batchOf,
  type BatchSql,
  boundaryInstants,
  buildStatement,
  column,
  type ColumnTable,
  packBytes,
  type Queryable,
} from "@scrip/postgres";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";

import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { IDEMPOTENCY_EVERY_MS } from "./partitions.ts";

export type LedgerEntry = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly campaignId: string | null;
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
  /** The parent redemption of a stack. */
  readonly parentId: string | null;
  /** Either this or `tierId`; both are null for a parent. */
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
  /** Usage of the voucher right after; null when nothing was redeemed. */
  readonly after: VoucherUsage | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly requestId: string;
  readonly sessionKey: string | null;
  /** Added to the totals of its campaign and tier; null without an order. */
  readonly orderAmount: bigint | null;
  /** Added to the same totals; null for zero. */
  readonly discountedAmount: bigint | null;
  /** JSON: the points that a loyalty card paid. */
  readonly points: string | null;
  /** JSON: discounted units by product. */
  readonly units: string | null;
  /** Binary messages. */
  readonly tier: Uint8Array | null;
  readonly explanation: Uint8Array | null;
  /** Null where no rule limits the discount to products. */
  readonly scope: Uint8Array | null;
};

export type NewEvent = {
  readonly projectId: string;
  readonly id: string;
  readonly topic: string;
  readonly type: string;
  readonly key: string;
  readonly payload: Uint8Array;
  /** The span of the request that caused it, if that is traced. */
  readonly traceparent?: string | undefined;
  readonly origin?: Origin | undefined;
};

/** The response to a request with an idempotency key, which replays return. */
export type NewStoredResponse = {
  readonly projectId: string;
  readonly key: string;
  readonly requestHash: Uint8Array;
  /** Which message the outcome is. */
  readonly kind: "redemption" | "rollback";
  readonly outcome: Uint8Array;
};

/** Everything that a batch of commands changes. */
export type CommitWrites = {
  readonly usages: readonly VoucherUsage[];
  readonly redemptions: readonly NewRedemption[];
  readonly ledgerEntries: readonly LedgerEntry[];
  readonly events: readonly NewEvent[];
  readonly responses: readonly NewStoredResponse[];
};

/**
 * Writes a batch in one statement and returns how many of its responses were stored: fewer than passed
 * means that another transaction stored a response under the same key concurrently, and the caller must
 * roll back. The usages must be locked.
 */
export async function writeCommits(tx: Queryable, writes: CommitWrites): Promise<number> {
  const { rows } = await tx.query<{ responses: number }>(
    // Sorted, so that two batches that share keys wait for each other in one order.
    writeStatement({ ...writes, responses: writes.responses.toSorted(byKey) }),
  );
  return rows[0]?.responses ?? 0;
}

const byKey = (a: NewStoredResponse, b: NewStoredResponse): number =>
  rowKey(a.projectId, a.key) < rowKey(b.projectId, b.key) ? -1 : 1;

const usageColumns: ColumnTable<VoucherUsage> = {
  project_id: column.text(({ projectId }) => projectId),
  voucher_id: column.text(({ voucherId }) => voucherId),
  definition_version: column.int8(({ definitionVersion }) => definitionVersion),
  quantity: column.int8(({ quantity }) => quantity),
  redeemed_quantity: column.int8(({ redeemedQuantity }) => redeemedQuantity),
  amount: column.int8(({ amount }) => amount),
  balance: column.int8(({ balance }) => balance),
  redeemed_amount: column.int8(({ redeemedAmount }) => redeemedAmount),
  reserved: column.bool(({ reserved }) => reserved),
  version: column.int8(({ version }) => version),
  ledger_version: column.int8(({ ledgerVersion }) => ledgerVersion),
};

const redemptionColumns: ColumnTable<NewRedemption> = {
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ id }) => id),
  parent_id: column.sparseText(({ parentId }) => parentId),
  voucher_id: column.text(({ voucherId }) => voucherId),
  promotion_tier_id: column.sparseText(({ tierId }) => tierId),
  campaign_id: column.sparseText(({ campaignId }) => campaignId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
  status: column.text(({ status }) => status),
  amount: column.sparseInt8(({ amount }) => amount),
  customer_id: column.sparseText(({ customerId }) => customerId),
  tracking_id: column.sparseText(({ trackingId }) => trackingId),
  metadata: column.json(({ metadata }) => metadata),
  channel_id: column.text(({ channelId }) => channelId),
  channel_type: column.text(({ channelType }) => channelType),
  order_message: column.sparseBytea(({ order }) => order && packBytes(order)),
  customer_message: column.sparseBytea(({ customer }) => customer && packBytes(customer)),
  redeemed_quantity_after: column.sparseInt8(({ after }) => after && after.redeemedQuantity),
  amount_after: column.sparseInt8(({ after }) => after && after.amount),
  redeemed_amount_after: column.sparseInt8(({ after }) => after && (after.redeemedAmount || null)),
  failure_code: column.sparseText(({ failure }) => failure && failure.code),
  failure_message: column.sparseText(({ failure }) => failure && failure.message),
  // For support: of a failed redemption nothing else remains.
  request_id: column.text(({ failure, requestId }) => (failure === null ? "" : requestId)),
  session_key: column.sparseText(({ sessionKey }) => sessionKey),
  order_amount: column.sparseInt8(({ orderAmount }) => orderAmount),
  discounted_amount: column.sparseInt8(({ discountedAmount }) => discountedAmount),
  units: column.json(({ units }) => units),
  promotion_tier_message: column.sparseBytea(({ tier }) => tier && packBytes(tier)),
  explanation: column.sparseBytea(({ explanation }) => explanation && packBytes(explanation)),
  points: column.json(({ points }) => points),
  scope: column.sparseBytea(({ scope }) => scope && packBytes(scope)),
};

const ledgerColumns: ColumnTable<LedgerEntry> = {
  project_id: column.text(({ projectId }) => projectId),
  voucher_id: column.text(({ voucherId }) => voucherId),
  campaign_id: column.text(({ campaignId }) => campaignId),
  version: column.int8(({ version }) => version),
  amount: column.int8(({ amount }) => amount),
  balance_after: column.int8(({ balanceAfter }) => balanceAfter),
  redemption_id: column.text(({ redemptionId }) => redemptionId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

/** The type of nearly all events: a literal in the statement instead of a parameter of each event. */
const USUAL_TYPE = RedemptionMadeSchema.typeName;

const eventColumns: ColumnTable<NewEvent> = {
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ id }) => id),
  topic: column.text(({ topic }) => topic),
  type: column.sparseText(({ type }) => (type === USUAL_TYPE ? null : type)),
  key: column.text(({ key }) => key),
  payload: column.bytea(({ payload }) => payload),
  headers: column.json(({ traceparent, origin }) => storedHeaders(traceparent, origin)),
};

const responseColumns: ColumnTable<NewStoredResponse> = {
  project_id: column.text(({ projectId }) => projectId),
  key: column.text(({ key }) => key),
  request_hash: column.bytea(({ requestHash }) => requestHash),
  outcome: column.bytea(({ outcome }) => packBytes(outcome)),
  kind: column.text(({ kind }) => kind),
};

const INSTANTS = boundaryInstants({ table: "idempotency", everyMs: IDEMPOTENCY_EVERY_MS });

const parts = {
  usages: batchOf(usageColumns),
  redemptions: batchOf(redemptionColumns),
  ledgerEntries: batchOf(ledgerColumns),
  events: batchOf(eventColumns),
  responses: batchOf(responseColumns),
};

type Parts = { readonly [Name in keyof typeof parts]: BatchSql };

/**
 * Inserts everything, as parts of a WITH clause; `condition` joins what it depends on. The usage rows exist, so their insert always meets a conflict: that way each row is found through its
 * key, regardless of the planner's estimate of the batch size.
 */
const inserts = (
  { usages, redemptions, ledgerEntries, events, responses }: Parts,
  condition = "",
): string => `usages as (
    insert into voucher_usage (${usages.columns})
    select ${usages.columns} from ${usages.rows("one")} ${condition}
        on conflict (project_id, voucher_id) do update
       set redeemed_quantity = excluded.redeemed_quantity, balance = excluded.balance,
           redeemed_amount = excluded.redeemed_amount, reserved = excluded.reserved,
           version = excluded.version, ledger_version = excluded.ledger_version
  ), redemptions as (
    insert into redemption (${redemptions.columns})
    select ${redemptions.columns} from ${redemptions.rows("one")} ${condition}
  ), ledger_entries as (
    insert into voucher_ledger_entry (${ledgerEntries.columns})
    select ${ledgerEntries.columns} from ${ledgerEntries.rows("one")} ${condition}
  ), events as (
    insert into outbox (${events.columns})
    select project_id, id, topic, coalesce(type, '${USUAL_TYPE}'), key, payload, headers
      from ${events.rows("one")} ${condition}
  ), responses as (
    insert into idempotency (${responses.columns}, created_at)
    select ${responses.columns}, at from ${responses.rows("one")} cross join ${INSTANTS} ${condition}`;

const writeStatement = buildStatement({
  name: "write-commits",
  parts,
  text: (sql) => `
  with ${inserts(sql)}
        on conflict do nothing
    returning 1
  )
  -- A response that is missing at one instant only counts as missing.
  select count(*)::int4 / (select count(*)::int4 from ${INSTANTS}) as responses from responses`,
});

export type UnlockedWrites = CommitWrites & {
  /** The usages that the batch was decided on, one for each that it writes. */
  readonly seen: readonly VoucherUsage[];
};

/**
 * Writes a batch, in a transaction of its own, if the rows of its usages are as seen and nobody locks them, and if no
 * response has one of its keys; returns whether it did. A response that another transaction stores at the same time violates the
 * unique index. Waits for no row that it changes.
 */
export async function writeUnlockedCommits(
  db: Queryable,
  writes: UnlockedWrites,
): Promise<boolean> {
  const { rows } = await db.query(
    unlockedStatement({ ...writes, responses: writes.responses.toSorted(byKey) }),
  );
  return rows.length > 0;
}

const seenColumns: ColumnTable<VoucherUsage> = {
  project_id: column.text(({ projectId }) => projectId),
  voucher_id: column.text(({ voucherId }) => voucherId),
  version: column.int8(({ version }) => version),
  definition_version: column.int8(({ definitionVersion }) => definitionVersion),
  ledger_version: column.int8(({ ledgerVersion }) => ledgerVersion),
  redeemed_quantity: column.int8(({ redeemedQuantity }) => redeemedQuantity),
  redeemed_amount: column.int8(({ redeemedAmount }) => redeemedAmount),
  amount: column.int8(({ amount }) => amount),
};

/**
 * Every change of a usage increments its version, or that of its ledger. A failover that loses commits assigns versions
 * again: therefore the figures are compared too.
 */
const unlockedStatement = buildStatement({
  name: "write-unlocked-commits",
  planning: "indexLookups",
  parts: { ...parts, seen: batchOf(seenColumns) },
  text: ({ seen, ...sql }) => `
  with unchanged as (
    select from ${seen.rows("seen")}
     cross join lateral (
             select from voucher_usage u
              where u.project_id = seen.project_id and u.voucher_id = seen.voucher_id
                and u.version = seen.version and u.definition_version = seen.definition_version
                and u.ledger_version = seen.ledger_version
                and u.redeemed_quantity = seen.redeemed_quantity
                and u.redeemed_amount = seen.redeemed_amount
                and u.amount is not distinct from seen.amount and not u.deleted and not u.reserved
              limit 1
                for no key update skip locked) u
  ), permitted as materialized (
    select
     where (select count(*) from unchanged) = (select count(*) from ${seen.rows("seen")})
       and not exists (
             select from ${sql.responses.rows("key")}
              cross join lateral (
                      select from idempotency stored
                       where stored.project_id = key.project_id and stored.key = key.key
                       limit 1) stored)
  ), ${inserts(sql, "cross join permitted")}
  )
  select from permitted`,
});

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
