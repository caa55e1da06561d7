import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { SummaryScope } from "../store/campaign-figures.ts";
import { listDeletedCards } from "../store/deleted-cards.ts";
import { loadCardBalances } from "./card-balances.ts";

const BATCH = 1_000;

/** The points that the deleted cards of a program held. */
export async function sumDeletedPoints(
  deps: Pick<Deps, "db" | "cards">,
  scope: SummaryScope,
  call: Call,
): Promise<bigint> {
  let sum = 0n;
  for (let after = ""; ;) {
    const cards = await listDeletedCards(deps.db, scope, { after, limit: BATCH });
    const balances = await loadCardBalances(deps, cards, call);
    for (const { balance } of balances.values()) sum += balance;
    if (cards.length < BATCH) return sum;
    after = cards.at(-1)?.cardId ?? "";
  }
}
