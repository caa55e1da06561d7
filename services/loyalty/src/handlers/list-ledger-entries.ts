import { create } from "@bufbuild/protobuf";
import { filterCondition, timeRangeConditions } from "@scrip/filters";
import {
  type CardService,
  ListLedgerEntriesResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { totalPoints } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { ledgerEntryToProto } from "../mapping/ledger-entry.ts";
import { findCards } from "../store/cards.ts";
import {
  ledgerEntryFilters,
  listLedgerEntries as list,
  programEntryFilters,
} from "../store/ledger-entries.ts";

export const listLedgerEntries =
  (deps: Deps): Handler<typeof CardService.method.listLedgerEntries> =>
  async (
    { projectId, cardId, campaignId, limit, descending, afterId = null, ...request },
    call,
  ) => {
    const values: unknown[] = [projectId, campaignId ?? cardId];
    const fields = campaignId === undefined ? ledgerEntryFilters : programEntryFilters;
    const conditions = [
      filterCondition(request.filters, { fields, call, values }),
      ...timeRangeConditions("created_at", request.createdAt, values),
    ];
    const page = { projectId, conditions, values, limit: Number(limit), descending, afterId };
    const [entries, cards] = await Promise.all([
      list(deps.db, { of: campaignId === undefined ? "card_id" : "campaign_id", ...page }),
      findCards(deps.db, campaignId === undefined ? [{ projectId, cardId }] : []),
    ]);
    const card = cards.get(keyOf(projectId, cardId));
    return create(ListLedgerEntriesResponseSchema, {
      total: card === undefined ? 0n : totalPoints(card),
      entries: entries.map(ledgerEntryToProto),
    });
  };
