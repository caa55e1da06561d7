import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type Card, newCard, type PointsLock, availablePoints } from "./card.ts";
import {
  decidePointsHolds,
  type HoldPointsCommand,
  type HoldPointsState,
  type Stock,
} from "./hold-points.ts";
import { keyOf } from "./key.ts";
import { decidePointsReservations } from "./reserve-points.ts";

const PROJECT = "proj_1";
const NOW = 1_000;

const cardOf = (id: string, points: bigint): Card =>
  newCard({ projectId: PROJECT, cardId: id, initialPoints: points });

const commandOf = (
  parts: readonly (readonly [string, bigint])[],
  more: Partial<HoldPointsCommand> = {},
): HoldPointsCommand => ({
  projectId: PROJECT,
  now: NOW,
  requestKey: null,
  sessionKey: null,
  parts: parts.map(([cardId, points]) => ({
    cardId,
    points,
    rewardId: "rew_1",
    takesStock: false,
  })),
  ...more,
});

const lockOf = (sessionKey: string, points: bigint, expiresAt = NOW + 1): PointsLock => ({
  projectId: PROJECT,
  cardId: "v_1",
  sessionKey,
  points,
  lockedAt: 0,
  expiresAt,
});

const decide = (
  commands: readonly HoldPointsCommand[],
  cards: readonly Card[],
  state: Partial<HoldPointsState> = {},
) => {
  let count = 0;
  return decidePointsHolds(commands, {
    cards: new Map(cards.map((card) => [keyOf(card.projectId, card.id), card])),
    locks: [],
    pending: [],
    stocks: new Map(),
    newId: () => `ps_${(count += 1)}`,
    ...state,
  });
};

const kinds = ({ decisions }: ReturnType<typeof decide>) =>
  decisions.map((decision) => (decision.kind === "rejected" ? decision.key : decision.kind));

describe("decidePointsHolds", () => {
  test("holds available points and rejects more", () => {
    const commands = [60n, 50n, 40n].map((points) => commandOf([["v_1", points]]));
    const decided = decide(commands, [cardOf("v_1", 100n)]);
    expect(kinds(decided)).toEqual(["held", "loyalty_card_points_exceeded", "held"]);
    expect([...decided.cards.values()]).toMatchObject([{ balance: 100n, heldPoints: 100n }]);
  });

  test("holds the points of all cards of a command or of none", () => {
    const both = commandOf([
      ["v_1", 60n],
      ["v_2", 60n],
    ]);
    const decided = decide(
      [both, commandOf([["v_1", 60n]])],
      [cardOf("v_1", 60n), cardOf("v_2", 1n)],
    );
    expect(decided.decisions).toMatchObject([{ kind: "rejected", part: 1 }, { kind: "held" }]);
    expect(decided.created).toMatchObject([{ cardId: "v_1", points: 60n }]);
  });

  test("finds the holds of an earlier attempt of the same request and of no other", () => {
    const mine = commandOf([["v_1", 100n]], { requestKey: "key" });
    const twice = decide(
      [mine, mine, commandOf([["v_1", 100n]], { requestKey: "other" })],
      [cardOf("v_1", 100n)],
    );
    expect(kinds(twice)).toEqual(["held", "held", "loyalty_card_points_exceeded"]);
    expect(twice.created).toHaveLength(1);
  });

  test("leaves unexpired locks of other sessions and replaces the lock of its own session", () => {
    const locks = [lockOf("a", 50n), lockOf("b", 30n), lockOf("old", 100n, NOW)];
    const holdPoints = (points: bigint, sessionKey: string | null) =>
      decide([commandOf([["v_1", points]], { sessionKey })], [cardOf("v_1", 100n)], { locks });
    expect(kinds(holdPoints(21n, null))).toEqual(["loyalty_card_points_exceeded"]);
    expect(kinds(holdPoints(20n, null))).toEqual(["held"]);
    const own = holdPoints(70n, "a");
    expect(kinds(own)).toEqual(["held"]);
    expect(own.replacedLocks).toEqual([locks[0]]);
    expect(own.created).toMatchObject([{ lockedPoints: 50n, lockedUntil: NOW + 1 }]);
  });

  test("takes no more items than are in stock", () => {
    const stocks = new Map<string, Stock>([[keyOf(PROJECT, "rew_1"), { stock: 2n, redeemed: 1n }]]);
    const one = commandOf([["v_1", 1n]]);
    const taking = { ...one, parts: one.parts.map((part) => ({ ...part, takesStock: true })) };
    const decided = decide([taking, taking], [cardOf("v_1", 9n)], { stocks });
    expect(kinds(decided)).toEqual(["held", "reward_out_of_stock"]);
  });

  test("never holds or locks more points than the card has, in any order of holds and locks", () => {
    const session = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("hold" as const),
        sessionKey: fc.option(session),
        points: fc.bigInt({ min: 1n, max: 120n }),
      }),
      fc.record({
        kind: fc.constant("lock" as const),
        sessionKey: session,
        points: fc.bigInt({ min: 0n, max: 120n }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let card = cardOf("v_1", 200n);
        let locks: readonly PointsLock[] = [];
        const key = keyOf(PROJECT, "v_1");
        for (const { kind, sessionKey, points } of steps) {
          if (kind === "hold") {
            const own = locks.find((lock) => lock.sessionKey === sessionKey);
            const decided = decide([commandOf([["v_1", points]], { sessionKey })], [card], {
              locks,
            });
            // A session can always hold the points that it locks.
            if (own !== undefined && own.points >= points) expect(kinds(decided)).toEqual(["held"]);
            card = decided.cards.get(key) ?? card;
            locks = locks.filter((lock) => !decided.replacedLocks.includes(lock));
          } else {
            const command = {
              projectId: PROJECT,
              sessionKey: sessionKey ?? "",
              now: NOW,
              reservations: [{ cardId: "v_1", points, expiresAt: NOW + 1 }],
            };
            const cards = new Map([[key, card]]);
            const decided = decidePointsReservations([command], { cards, locks });
            const held = decided.locks.get(keyOf(PROJECT, command.sessionKey));
            if (held !== undefined) {
              locks = [...locks.filter((lock) => lock.sessionKey !== sessionKey), ...held];
            }
          }
          const locked = locks.reduce((sum, lock) => sum + lock.points, 0n);
          expect(locked <= availablePoints(card)).toBe(true);
        }
      }),
    );
  });
});
