import { instantFromProto } from "@scrip/mapping";
import { type Queryable, readSnapshot } from "@scrip/postgres";
import type {
  CardReference,
  CardService,
  GetCardBalancesResponse,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { newCard } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { localDateAt } from "../domain/local-date.ts";
import { figuresAsOf, NO_POINTS } from "../domain/points-as-of.ts";
import { cardBalancesToProto } from "../mapping/card.ts";
import { readCards } from "../points/read-accounts.ts";
import { findCards } from "../store/cards.ts";
import { readCardsAsOf } from "../store/ledger-as-of.ts";

export const getCardBalances =
  (deps: Deps): Handler<typeof CardService.method.getCardBalances> =>
  ({ cards: names, asOf, snapshot }, call) => {
    if (asOf !== undefined)
      return balancesAsOf(deps, names, { asOf: instantFromProto(asOf), call });
    if (snapshot === undefined) return currentBalances(deps.db, names, call);
    return readSnapshot(deps.db, snapshot, async (tx) => ({
      ...(await currentBalances(tx, names, call)),
      snapshot,
    }));
  };

async function currentBalances(
  db: Queryable,
  names: readonly CardReference[],
  call: Call,
): Promise<GetCardBalancesResponse> {
  const found = await readCards(db, await findCards(db, names), call);
  return {
    $typeName: "scrip.loyalty.v1.GetCardBalancesResponse",
    balances: names.map((name) =>
      cardBalancesToProto(found.get(keyOf(name.projectId, name.cardId)) ?? newCard(name)),
    ),
  };
}

async function balancesAsOf(
  { db }: Deps,
  names: readonly CardReference[],
  { asOf, call }: { readonly asOf: number; readonly call: Call },
): Promise<GetCardBalancesResponse> {
  const states = await readCardsAsOf(db, names, asOf);
  const today = localDateAt(call.project.timeZone, asOf);
  return {
    $typeName: "scrip.loyalty.v1.GetCardBalancesResponse",
    balances: names.map((name) => {
      const state = states.get(keyOf(name.projectId, name.cardId)) ?? NO_POINTS;
      return cardBalancesToProto({ ...newCard(name), ...figuresAsOf(state, today) });
    }),
  };
}
