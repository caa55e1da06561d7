import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadCardStates } from "../loading/cards.ts";
import { loadedCardToProto } from "../mapping/card.ts";

export const loadCards =
  (deps: Deps): Handler<typeof CardService.method.loadCards> =>
  async ({ queries }) => {
    const results = await loadCardStates(deps, queries);
    return {
      $typeName: "scrip.loyalty.v1.LoadCardsResponse",
      results: results.map((states) => ({
        $typeName: "scrip.loyalty.v1.CardsResult" as const,
        cards: states.map(loadedCardToProto),
      })),
    };
  };
