import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { filterCondition, timeRangeConditions } from "@scrip/filters";
import {
  type CardService,
  ListLedgerEntriesResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { findCards } from "../store/cards.ts";
import { ledgerEntryFilters, listLedgerEntries as list } from "../store/ledger-entries.ts";

export const listLedgerEntries =
  (deps: Deps): Handler<typeof CardService.method.listLedgerEntries> =>
  async ({ projectId, cardId, limit, descending, afterId = null, ...request }, call) => {
    const name = { projectId, cardId };
    const values: unknown[] = [projectId, cardId];
    const conditions = [
      filterCondition(request.filters, { fields: ledgerEntryFilters, call, values }),
      ...timeRangeConditions("created_at", request.createdAt, values),
    ];
    const [entries, cards] = await Promise.all([
      list(deps.db, { conditions, values, limit: Number(limit), descending, afterId }),
      findCards(deps.db, [name]),
    ]);
    const card = cards.get(keyOf(projectId, cardId));
    return create(ListLedgerEntriesResponseSchema, {
      total: card === undefined ? 0n : card.points - card.expiredPoints - card.subtractedPoints,
      entries: entries.map((entry) => ({
        id: entry.id,
        type: entry.type,
        points: entry.points,
        balance: entry.balance_after,
        createdAt: timestampFromDate(entry.created_at),
        ...(entry.redemption_id !== null && { redemptionId: entry.redemption_id }),
        ...(entry.rollback_id !== null && { rollbackId: entry.rollback_id }),
      })),
    });
  };
