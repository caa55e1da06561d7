import { create, fromBinary } from "@bufbuild/protobuf";
import { notFound, ApiError } from "@scrip/errors";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import type { LedgerEntry } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type CardTransaction,
  CardTransactionSchema,
  type CardTransactions,
} from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findRedemptions, type StoredRedemption } from "../store/redemptions.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVoucher } from "../store/vouchers.ts";

const DEFAULT_LIMIT = 10n;

/** Finds a card by its code or id, and checks its campaign if one is requested. */
export async function requireCard(
  deps: Deps,
  code: string,
  { call, campaignId }: { readonly call: Call; readonly campaignId?: string | undefined },
): Promise<StoredVoucher> {
  const voucher = await findVoucher(deps.db, call.project.id, code);
  const exists =
    voucher !== undefined &&
    (campaignId === undefined || voucher.definition.campaignId === campaignId);
  if (!exists) throw notFound("voucher", code);
  if (voucher.definition.type !== "LOYALTY_CARD") {
    throw new ApiError("invalid_voucher", { details: `Voucher ${code} is not a loyalty card` });
  }
  return voucher;
}

/** One page of transactions, and the cursor of the next one (docs/gift-and-points.md#transactions). */
export async function cardTransactions(
  deps: Deps,
  card: StoredVoucher,
  {
    request,
    call,
  }: {
    readonly request: {
      readonly limit?: bigint | undefined;
      readonly order?: string | undefined;
      readonly startingAfterId?: string | undefined;
    };
    readonly call: Call;
  },
): Promise<CardTransactions> {
  const projectId = call.project.id;
  const limit = request.limit ?? DEFAULT_LIMIT;
  const { entries, total } = await deps.cards.listLedgerEntries(
    {
      projectId,
      cardId: card.definition.id,
      // One more than the page shows whether there are more.
      limit: limit + 1n,
      descending: request.order !== "id",
      ...(request.startingAfterId !== undefined && { afterId: request.startingAfterId }),
    },
    call,
  );
  const page = entries.slice(0, Number(limit));
  const ids = new Set(page.flatMap(({ redemptionId }) => redemptionId ?? []));
  const found = await findRedemptions(
    deps.db,
    [...ids].map((id) => ({ projectId, id })),
  );
  const redemptions = new Map(found.map((one) => [one.id, one]));
  const hasMore = entries.length > page.length;
  return {
    $typeName: "scrip.voucher.v1.CardTransactions",
    data: page.map((entry) =>
      toTransaction(entry, { card, total, redemption: redemptions.get(entry.redemptionId ?? "") }),
    ),
    hasMore,
    moreStartingAfter: hasMore ? page.at(-1)?.id : undefined,
  };
}

function toTransaction(
  entry: LedgerEntry,
  {
    card: { definition },
    total,
    redemption,
  }: {
    readonly card: StoredVoucher;
    readonly total: bigint;
    readonly redemption: StoredRedemption | undefined;
  },
): CardTransaction {
  const { id: voucherId, campaignId } = definition;
  const reward = redemption?.points?.reward ?? null;
  const order = redemption && orderOf(redemption);
  return create(CardTransactionSchema, {
    id: entry.id,
    voucherId,
    type: entry.type,
    ...(campaignId !== null && { campaignId }),
    ...(entry.createdAt !== undefined && { createdAt: entry.createdAt }),
    details: {
      balance: {
        type: "loyalty_card",
        total,
        points: entry.points,
        balance: entry.balance,
        relatedObject: { id: voucherId, type: "voucher" },
      },
      ...(order !== undefined && { order }),
      ...(entry.redemptionId !== undefined && { redemption: { id: entry.redemptionId } }),
      ...(entry.rollbackId !== undefined && { rollback: { id: entry.rollbackId } }),
      ...(reward !== null && {
        reward: { id: reward.id, ...(reward.name !== null && { name: reward.name }) },
      }),
    },
  });
}

function orderOf({ order }: StoredRedemption) {
  if (order === null) return undefined;
  const { id, sourceId } = fromBinary(OrderSchema, order);
  return id === undefined ? undefined : { id, ...(sourceId !== undefined && { sourceId }) };
}
