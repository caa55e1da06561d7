import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { TimeRange } from "@scrip/proto/scrip/common/v1/list_pb";
import {
  type CardService,
  ListPointsLotsResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { spendableLots, withoutDueLots } from "../domain/account.ts";
import { availablePoints, newCard } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { localDateAt } from "../domain/local-date.ts";
import { cardReferenceFromProto } from "../mapping/card-reference.ts";
import { loadAccounts } from "../points/accounts.ts";
import { findOpenedCard } from "../store/cards.ts";
import { findLotTimes } from "../store/points-lots.ts";

/** A card has as many lots as dates on which its points expire; its page is cut from all of them. */
export const listPointsLots =
  (deps: Deps): Handler<typeof CardService.method.listPointsLots> =>
  async ({ card: message, limit, offset, createdAt: range }, call) => {
    const reference = cardReferenceFromProto(message);
    const { projectId, cardId } = reference;
    const key = keyOf(projectId, cardId);
    const today = localDateAt(call.project.timeZone, call.now);
    const opened = await findOpenedCard(deps.db, reference);
    const card = opened?.card ?? newCard(reference);
    const accounts = await loadAccounts(
      deps.db,
      new Map([[key, card]]),
      () => opened !== undefined,
    );
    const account = accounts.get(key) ?? { card, lots: [] };
    const dated = spendableLots(account, today);
    const rest =
      availablePoints(withoutDueLots(account, today).card) -
      dated.reduce((sum, { points }) => sum + points, 0n);
    const undated = { id: neverExpiringId(cardId), points: rest, expiresOn: null };
    const pageOf = <Item>(items: readonly Item[]): readonly Item[] =>
      items.slice(Number(offset), Number(offset + limit));
    const all = [...dated, undated];
    const times = await findLotTimes(
      deps.db,
      reference,
      (range === undefined ? pageOf(all) : all).map(({ id }) => id),
    );
    const timesOf = (id: string) =>
      times.get(id) ?? { createdAt: opened?.openedAt ?? null, updatedAt: null };
    const lots =
      range === undefined ? all : all.filter(({ id }) => isWithin(range, timesOf(id).createdAt));
    return create(ListPointsLotsResponseSchema, {
      total: BigInt(lots.length),
      lots: pageOf(lots).map(({ id, points, expiresOn }) => {
        const time = timesOf(id);
        return {
          id,
          points,
          ...(expiresOn !== null && { expiresAt: expiresOn }),
          ...(time.createdAt !== null && { createdAt: timestampFromDate(time.createdAt) }),
          ...(time.updatedAt !== null && { updatedAt: timestampFromDate(time.updatedAt) }),
        };
      }),
    });
  };

const isWithin = ({ after, before }: TimeRange, time: Date | null): boolean =>
  time !== null &&
  (after === undefined || time.getTime() > timestampMs(after)) &&
  (before === undefined || time.getTime() < timestampMs(before));

/** Points that never expire have no row; their id is derived from that of the card. */
const neverExpiringId = (cardId: string): string => cardId.replace(/^v_/, "lopb_");
