import type { Queryable } from "@scrip/postgres";
import type {
  CardService,
  HoldPointsCommand as CommandMessage,
  HoldPointsOutcome,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  decideSpends,
  type HoldPointsCommand,
  type SpendDecision,
  type SpendsDecided,
} from "../domain/hold-points.ts";
import { instantIn, toFigures } from "../mapping/card.ts";
import { lockCards, openCards, saveCards } from "../store/cards.ts";
import { findPendingOfCards, insertSpends } from "../store/points-holds.ts";
import { deleteLocks, findLocksOfCards } from "../store/points-locks.ts";
import { lockStocks, moveStocks } from "../store/rewards.ts";

/**
 * Holds the points of redemptions that are about to be committed: one transaction locks the cards of all
 * commands, decides in memory and writes (services/decisions/0020-points-before-the-commit.md).
 */
export const holdPoints =
  (deps: Deps): Handler<typeof CardService.method.holdPoints> =>
  async (request) => {
    const commands = request.commands.map(parse);
    const cards = request.commands.flatMap(({ projectId, parts }) =>
      parts.map(({ cardId, initialPoints }) => ({ projectId, cardId, initialPoints })),
    );
    const takers = commands.flatMap(({ projectId, parts }) =>
      parts.flatMap(({ rewardId, takesStock }) => (takesStock ? [{ projectId, rewardId }] : [])),
    );
    const at = new Date(Math.max(0, ...commands.map(({ now }) => now)));
    const { decisions } = await deps.db.transaction(async (tx) => {
      await openCards(tx, cards, at);
      const locked = await lockCards(tx, cards);
      // Statements of their own, so that they see what those did that held the cards before.
      const [locks, pending, stocks] = await Promise.all([
        findLocksOfCards(tx, cards),
        findPendingOfCards(tx, cards),
        lockStocks(tx, takers),
      ]);
      const known = { cards: locked, locks, pending, stocks };
      const decided = decideSpends(commands, { ...known, newId: () => deps.newId("ps") });
      await store(tx, decided);
      return decided;
    });
    return {
      $typeName: "scrip.loyalty.v1.HoldPointsResponse",
      outcomes: decisions.map(toOutcome),
    };
  };

const parse = (message: CommandMessage): HoldPointsCommand => ({
  projectId: message.projectId,
  now: instantIn(message),
  requestKey: message.requestKey ?? null,
  sessionKey: message.sessionKey ?? null,
  parts: message.parts,
});

async function store(tx: Queryable, { cards, made, replaced }: SpendsDecided): Promise<void> {
  await Promise.all([
    saveCards(tx, [...cards.values()]),
    insertSpends(tx, made),
    deleteLocks(tx, replaced),
    moveStocks(
      tx,
      made.flatMap(({ projectId, rewardId, takesStock }) =>
        takesStock ? [{ projectId, rewardId, by: 1 as const }] : [],
      ),
    ),
  ]);
}

function toOutcome(decision: SpendDecision): HoldPointsOutcome {
  return {
    $typeName: "scrip.loyalty.v1.HoldPointsOutcome",
    outcome:
      decision.kind === "spent"
        ? {
            case: "held",
            value: {
              $typeName: "scrip.loyalty.v1.HeldPoints",
              holds: decision.spends.map(({ spend, card }) => ({
                $typeName: "scrip.loyalty.v1.PointsHold" as const,
                id: spend.id,
                balances: toFigures(card),
              })),
            },
          }
        : {
            case: "rejected",
            value: {
              $typeName: "scrip.loyalty.v1.PointsHoldRejection",
              part: decision.part,
              key: decision.key,
            },
          },
  };
}
