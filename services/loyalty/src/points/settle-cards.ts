import type { Queryable } from "@scrip/postgres";

import { autoRedeem, type AutoRedeemOptions } from "../reward/auto-redeem.ts";
import { type CardKey, findMembers } from "../store/loyalty-members.ts";
import { followCards, type FollowDeps } from "../tiers/follow-cards.ts";

/**
 * What follows when points of cards have moved, in the caller's transaction: first rewards are redeemed automatically, at the
 * prices of the tiers until then, and then tiers follow. The caller calls `deps.onEvents` after its commit.
 */
export async function settleCards(
  tx: Queryable,
  deps: FollowDeps,
  cards: readonly CardKey[],
  options: AutoRedeemOptions = {},
): Promise<void> {
  // A card that is published concurrently is settled with its publication, in both steps.
  const members = await findMembers(tx, cards);
  await autoRedeem(tx, deps, members, options);
  await followCards(tx, deps, members, { originOf: options.originOf });
}
