import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type LedgerEntry, LedgerEntrySchema } from "@scrip/proto/scrip/loyalty/v1/cards_pb";

import type { EntryRow } from "../store/ledger-entries.ts";

export const ledgerEntryToProto = (row: EntryRow): LedgerEntry =>
  create(LedgerEntrySchema, {
    id: row.id,
    type: row.type,
    points: row.points,
    balance: row.balance_after,
    createdAt: timestampFromDate(row.created_at),
    cardId: row.card_id,
    ...(row.redemption_id !== null && { redemptionId: row.redemption_id }),
    ...(row.rollback_id !== null && { rollbackId: row.rollback_id }),
    ...(row.total_after !== null && { total: row.total_after }),
    ...(row.source !== null && { source: row.source }),
    ...(row.source_id !== null && { sourceId: row.source_id }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.related_id !== null && { relatedId: row.related_id }),
    ...(row.details !== null && { details: row.details }),
  });
