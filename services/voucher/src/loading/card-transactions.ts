import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import {
  type Timestamp,
  timestampFromDate,
  timestampFromMs,
  timestampMs,
} from "@bufbuild/protobuf/wkt";
import { notFound, ApiError } from "@scrip/errors";
import { filterCondition, timeRangeConditions } from "@scrip/filters";
import { type TimeRange, TimeRangeSchema } from "@scrip/proto/scrip/common/v1/list_pb";
import type { LedgerEntry } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type CardTransaction,
  CardTransactionDetailsSchema,
  CardTransactionSchema,
  type CardTransactions,
} from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  campaignGiftEntryFilters,
  type GiftEntry,
  giftEntryFilters,
  listGiftEntries,
} from "../store/gift-ledger.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVoucher } from "../store/vouchers.ts";
import { redemptionDetails, redemptionsOf } from "./redemption-details.ts";

const DEFAULT_LIMIT = 10n;

/** Finds a voucher by its code or id, and checks its campaign if one is requested. */
export async function requireVoucher(
  deps: Deps,
  code: string,
  { call, campaignId }: { readonly call: Call; readonly campaignId?: string | undefined },
): Promise<StoredVoucher> {
  const voucher = await findVoucher(deps.db, call.project.id, code);
  const exists =
    voucher !== undefined &&
    (campaignId === undefined || voucher.definition.campaignId === campaignId);
  if (!exists) throw notFound("voucher", code);
  return voucher;
}

/** Like `requireVoucher`; rejects vouchers that are not loyalty cards. */
export async function requireCard(
  deps: Deps,
  code: string,
  options: { readonly call: Call; readonly campaignId?: string | undefined },
): Promise<StoredVoucher> {
  const voucher = await requireVoucher(deps, code, options);
  if (voucher.definition.type !== "LOYALTY_CARD") {
    throw new ApiError("invalid_voucher", { details: `Voucher ${code} is not a loyalty card` });
  }
  return voucher;
}

export type TransactionsRequest = {
  readonly limit?: bigint | undefined;
  readonly order?: string | undefined;
  readonly startingAfterId?: string | undefined;
  readonly filters?: JsonObject | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly asOf?: Timestamp | undefined;
};

/** The range of a request, ended by its `as_of`: a transaction exists from the millisecond of its creation. */
function createdAtOf({ createdAt, asOf }: TransactionsRequest): TimeRange | undefined {
  if (asOf === undefined) return createdAt;
  const end = timestampMs(asOf) + 1;
  const before = createdAt?.before;
  const earlier = before !== undefined && timestampMs(before) < end ? before : timestampFromMs(end);
  return create(TimeRangeSchema, { ...createdAt, before: earlier });
}

/** One page of the ledger of a gift voucher, and the cursor of the next one. */
export const giftTransactions = (
  deps: Deps,
  { definition: { id, campaignId } }: StoredVoucher,
  options: { readonly request: TransactionsRequest; readonly call: Call },
): Promise<CardTransactions> => giftPage(deps, { of: "voucher", id, campaignId }, options);

/** The same of all gift vouchers of a campaign. */
export const giftCampaignTransactions = (
  deps: Deps,
  campaignId: string,
  options: { readonly request: TransactionsRequest; readonly call: Call },
): Promise<CardTransactions> =>
  giftPage(deps, { of: "campaign", id: campaignId, campaignId }, options);

async function giftPage(
  deps: Deps,
  {
    of,
    id,
    campaignId,
  }: {
    readonly of: "voucher" | "campaign";
    readonly id: string;
    readonly campaignId: string | null;
  },
  { request, call }: { readonly request: TransactionsRequest; readonly call: Call },
): Promise<CardTransactions> {
  const projectId = call.project.id;
  const limit = Number(request.limit ?? DEFAULT_LIMIT);
  const values: unknown[] = [projectId, id];
  const fields = of === "voucher" ? giftEntryFilters : campaignGiftEntryFilters;
  const entries = await listGiftEntries(deps.db, {
    projectId,
    of,
    conditions: [
      filterCondition(request.filters, { fields, call, values }),
      ...timeRangeConditions("l.created_at", createdAtOf(request), values),
    ],
    values,
    descending: request.order !== "id",
    after: request.startingAfterId ?? null,
    // One more than the page shows whether there are more.
    limit: limit + 1,
  });
  const page = entries.slice(0, limit);
  const redemptions = await redemptionsOf(
    deps,
    page.map(({ redemptionId }) => ({ projectId, redemptionId })),
  );
  const hasMore = entries.length > page.length;
  return {
    $typeName: "scrip.voucher.v1.CardTransactions",
    data: page.map((entry) =>
      giftTransaction(entry, {
        campaignId,
        redemption: redemptions.get(entry.redemptionId ?? ""),
      }),
    ),
    hasMore,
    moreStartingAfter: hasMore ? page.at(-1)?.id : undefined,
  };
}

function giftTransaction(
  entry: GiftEntry,
  {
    campaignId,
    redemption,
  }: {
    readonly campaignId: string | null;
    readonly redemption: StoredRedemption | undefined;
  },
): CardTransaction {
  const { voucherId, redemptionId, rollbackId, source, sourceId, reason } = entry;
  const { operationType, ...redeemed } = redemptionDetails(entry, redemption);
  return create(CardTransactionSchema, {
    id: entry.id,
    voucherId,
    type: giftTransactionType(entry),
    ...(campaignId !== null && { campaignId }),
    ...(source !== null && { source }),
    ...(sourceId !== null && { sourceId }),
    ...(reason !== null && { reason }),
    createdAt: timestampFromDate(entry.createdAt),
    details: {
      balance: {
        type: "gift_voucher",
        total: entry.totalAfter,
        amount: entry.amount,
        balance: entry.balanceAfter,
        relatedObject: { id: voucherId, type: "voucher" },
        operationType,
      },
      ...redeemed,
      ...(redemptionId !== null && { redemption: { id: redemptionId } }),
      ...(rollbackId !== null && { rollback: { id: rollbackId } }),
    },
  });
}

function giftTransactionType({ redemptionId, amount }: GiftEntry): string {
  if (redemptionId === null) return amount < 0n ? "CREDITS_REMOVAL" : "CREDITS_ADDITION";
  return amount < 0n ? "CREDITS_REDEMPTION" : "CREDITS_REFUND";
}

/** One page of transactions of a card, and the cursor of the next one (docs/gift-and-points.md#transactions). */
export const cardTransactions = (
  deps: Deps,
  { definition: { id: cardId, campaignId } }: StoredVoucher,
  options: { readonly request: TransactionsRequest; readonly call: Call },
): Promise<CardTransactions> => ledgerPage(deps, { cardId }, { ...options, campaignId });

/** The same of all cards of a loyalty program. */
export const programTransactions = (
  deps: Deps,
  campaignId: string,
  options: { readonly request: TransactionsRequest; readonly call: Call },
): Promise<CardTransactions> =>
  ledgerPage(deps, { cardId: "", campaignId }, { ...options, campaignId });

async function ledgerPage(
  deps: Deps,
  of: { readonly cardId: string; readonly campaignId?: string },
  {
    campaignId,
    request,
    call,
  }: {
    readonly campaignId: string | null;
    readonly request: TransactionsRequest;
    readonly call: Call;
  },
): Promise<CardTransactions> {
  const projectId = call.project.id;
  const limit = request.limit ?? DEFAULT_LIMIT;
  const createdAt = createdAtOf(request);
  const { entries, total } = await deps.cards.listLedgerEntries(
    {
      projectId,
      ...of,
      // One more than the page shows whether there are more.
      limit: limit + 1n,
      descending: request.order !== "id",
      ...(request.startingAfterId !== undefined && { afterId: request.startingAfterId }),
      ...(request.filters !== undefined && { filters: request.filters }),
      ...(createdAt !== undefined && { createdAt }),
    },
    call,
  );
  const page = entries.slice(0, Number(limit));
  const redemptions = await redemptionsOf(
    deps,
    page.map(({ redemptionId }) => ({ projectId, redemptionId })),
  );
  const hasMore = entries.length > page.length;
  return {
    $typeName: "scrip.voucher.v1.CardTransactions",
    data: page.map((entry) =>
      toTransaction(entry, {
        voucherId: entry.cardId === "" ? of.cardId : entry.cardId,
        campaignId,
        total,
        redemption: redemptions.get(entry.redemptionId ?? ""),
      }),
    ),
    hasMore,
    moreStartingAfter: hasMore ? page.at(-1)?.id : undefined,
  };
}

function toTransaction(
  entry: LedgerEntry,
  {
    voucherId,
    campaignId,
    total,
    redemption,
  }: {
    readonly voucherId: string;
    readonly campaignId: string | null;
    /** For entries from the time when they had no total of their own. */
    readonly total: bigint;
    readonly redemption: StoredRedemption | undefined;
  },
): CardTransaction {
  const { operationType, ...redeemed } = redemptionDetails(entry, redemption);
  const { source, sourceId, reason, relatedId } = entry;
  return create(CardTransactionSchema, {
    id: entry.id,
    voucherId,
    type: entry.type,
    ...(campaignId !== null && { campaignId }),
    ...(source !== undefined && { source }),
    ...(sourceId !== undefined && { sourceId }),
    ...(reason !== undefined && { reason }),
    ...(relatedId !== undefined && { relatedTransactionId: relatedId }),
    ...(entry.createdAt !== undefined && { createdAt: entry.createdAt }),
    details: {
      ...shownDetails(entry),
      balance: {
        type: "loyalty_card",
        total: entry.total ?? total,
        points: entry.points,
        balance: entry.balance,
        relatedObject: { id: voucherId, type: "voucher" },
        operationType,
      },
      ...redeemed,
      ...(entry.redemptionId !== undefined && { redemption: { id: entry.redemptionId } }),
      ...(entry.rollbackId !== undefined && { rollback: { id: entry.rollbackId } }),
    },
  });
}

/** What the ledger stores beside the figures: of a transfer the other card, of an accrual its rule and event. */
function shownDetails({ details = {} }: LedgerEntry) {
  const message = fromJson(CardTransactionDetailsSchema, details, { ignoreUnknownFields: true });
  const { $typeName: _name, $unknown: _unknown, balance: _balance, ...shown } = message;
  return shown;
}
