import { instantToProto } from "@scrip/mapping";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type Cards, cardQuery } from "../mapping/card.ts";
import type { ResolvedRedeemables } from "../mapping/decision-context.ts";

const NO_CARDS: Cards = new Map();

/**
 * Balances of the request's loyalty cards and the rewards chosen for them. Makes no call without
 * cards.
 */
export async function loadCards(
  deps: Pick<Deps, "clients">,
  call: Call,
  {
    redeemables,
    vouchers,
    sessionKey,
  }: Pick<ResolvedRedeemables, "redeemables" | "vouchers"> & {
    readonly sessionKey: string | undefined;
  },
): Promise<Cards> {
  const cards = redeemables.flatMap((ref) => cardQuery(ref, vouchers) ?? []);
  if (cards.length === 0) return NO_CARDS;
  const requestKey = call.idempotency?.key;
  const result = await deps.clients.loadCards(
    {
      $typeName: "scrip.loyalty.v1.CardsQuery",
      projectId: call.project.id,
      now: instantToProto(call.now),
      cards,
      ...(sessionKey !== undefined && { sessionKey }),
      ...(requestKey !== undefined && { requestKey }),
    },
    call,
  );
  return new Map(
    cards.flatMap(({ cardId }, index) => {
      const card = result.cards[index];
      return card === undefined ? [] : [[cardId, card]];
    }),
  );
}
