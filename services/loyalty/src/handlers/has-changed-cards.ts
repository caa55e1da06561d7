import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { hasCards } from "../store/cards.ts";

export const hasChangedCards =
  ({ db }: Deps): Handler<typeof CardService.method.hasChangedCards> =>
  async (_request, { project }) => ({
    $typeName: "scrip.loyalty.v1.HasChangedCardsResponse",
    hasChanged: await hasCards(db, project.id),
  });
