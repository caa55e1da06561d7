import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { newCard } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { cardBalancesToProto } from "../mapping/card.ts";
import { readCards } from "../points/read-accounts.ts";
import { findCards } from "../store/cards.ts";

export const getCardBalances =
  (deps: Deps): Handler<typeof CardService.method.getCardBalances> =>
  async ({ cards: names }, call) => {
    const found = await readCards(deps.db, await findCards(deps.db, names), call);
    return {
      $typeName: "scrip.loyalty.v1.GetCardBalancesResponse",
      balances: names.map((name) =>
        cardBalancesToProto(found.get(keyOf(name.projectId, name.cardId)) ?? newCard(name)),
      ),
    };
  };
