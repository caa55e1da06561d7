import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf, newCard } from "../domain/card.ts";
import { toFigures } from "../mapping/card.ts";
import { findCards } from "../store/cards.ts";

export const readCards =
  (deps: Deps): Handler<typeof CardService.method.readCards> =>
  async ({ cards: names }) => {
    const found = await findCards(deps.db, names);
    return {
      $typeName: "scrip.loyalty.v1.ReadCardsResponse",
      cards: names.map((name) =>
        toFigures(found.get(keyOf(name.projectId, name.cardId)) ?? newCard(name)),
      ),
    };
  };
