import type { Queryable } from "@scrip/postgres";
import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { decidePointsHolds, type HoldPointsResult } from "../domain/hold-points.ts";
import { holdPointsCommandFromProto, holdPointsOutcomeToProto } from "../mapping/points-hold.ts";
import { expireDue } from "../points/expire-due.ts";
import { openAndLockCards, saveBalances } from "../store/cards.ts";
import { findPendingHoldsOfCards, insertPointsHolds } from "../store/points-holds.ts";
import { deleteLocks, findLocksOfCards } from "../store/points-locks.ts";
import { changeStocks, lockStocks } from "../store/rewards.ts";

/**
 * One transaction locks the cards of all commands, decides in memory and writes
 * (services/decisions/0020-points-held-before-the-commit.md).
 */
export const holdPoints =
  (deps: Deps): Handler<typeof CardService.method.holdPoints> =>
  async (request) => {
    const commands = request.commands.map(holdPointsCommandFromProto);
    const cards = request.commands.flatMap(({ projectId, parts }) =>
      parts.map(({ cardId, initialPoints, campaignId }) => ({
        projectId,
        cardId,
        initialPoints,
        campaignId,
      })),
    );
    const stockedRewards = commands.flatMap(({ projectId, parts }) =>
      parts.flatMap(({ rewardId, takesStock }) => (takesStock ? [{ projectId, rewardId }] : [])),
    );
    const at = Math.max(0, ...commands.map(({ now }) => now));
    const { decisions } = await deps.db.transaction(async (tx) => {
      const times = new Map(commands.map(({ projectId, now }) => [projectId, now]));
      const locked = await expireDue(tx, deps, {
        cards: await openAndLockCards(tx, cards, at),
        times,
      });
      // Separate statements after the lock, to see what the transactions before this one wrote.
      const [locks, pending, stocks] = await Promise.all([
        findLocksOfCards(tx, cards),
        findPendingHoldsOfCards(tx, cards),
        lockStocks(tx, stockedRewards),
      ]);
      const state = { cards: locked, locks, pending, stocks, newId: () => deps.newId("ps") };
      const result = decidePointsHolds(commands, state);
      await write(tx, result);
      return result;
    });
    return {
      $typeName: "scrip.loyalty.v1.HoldPointsResponse",
      outcomes: decisions.map(holdPointsOutcomeToProto),
    };
  };

async function write(
  tx: Queryable,
  { cards, created, replacedLocks }: HoldPointsResult,
): Promise<void> {
  await Promise.all([
    saveBalances(tx, [...cards.values()]),
    insertPointsHolds(tx, created),
    deleteLocks(tx, replacedLocks),
    changeStocks(
      tx,
      created.flatMap(({ projectId, rewardId, takesStock, quantity: by }) =>
        takesStock ? [{ projectId, rewardId, by }] : [],
      ),
    ),
  ]);
}
