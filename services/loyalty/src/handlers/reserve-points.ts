import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  CardService,
  PointsReservationCommand,
  PointsReservationOutcome,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/card.ts";
import {
  decidePointReservations,
  type ReserveCommand,
  type ReserveDecision,
} from "../domain/reserve-points.ts";
import { instantIn } from "../mapping/card.ts";
import { lockCards, openCards } from "../store/cards.ts";
import {
  deleteLocks,
  findLocksOfCards,
  findLocksOfSessions,
  putLocks,
} from "../store/points-locks.ts";

/** Checks and locks under the locks of the cards, so that of two sessions for the last points one gets them. */
export const reservePoints =
  (deps: Deps): Handler<typeof CardService.method.reservePoints> =>
  async (request) => {
    const commands = request.commands.map(parse);
    const cards = request.commands.flatMap(({ projectId, reservations }) =>
      reservations.map(({ cardId, initialPoints }) => ({ projectId, cardId, initialPoints })),
    );
    const at = new Date(Math.max(0, ...commands.map(({ now }) => now)));
    const decisions = await deps.db.transaction(async (tx) => {
      await openCards(tx, cards, at);
      const locked = await lockCards(tx, cards);
      const [ofCards, ofSessions] = await Promise.all([
        findLocksOfCards(tx, cards),
        findLocksOfSessions(tx, commands),
      ]);
      const all = new Map([...ofCards, ...ofSessions].map((lock) => [lockKey(lock), lock]));
      const decided = decidePointReservations(commands, {
        cards: locked,
        locks: [...all.values()],
      });
      const sessions = decided.locks;
      const dropped = ofSessions.filter((lock) =>
        sessions.has(keyOf(lock.projectId, lock.sessionKey)),
      );
      await Promise.all([deleteLocks(tx, dropped), putLocks(tx, [...sessions.values()].flat())]);
      return decided.decisions;
    });
    return {
      $typeName: "scrip.loyalty.v1.ReservePointsResponse",
      outcomes: decisions.map(toOutcome),
    };
  };

const lockKey = (lock: Parameters<typeof deleteLocks>[1][number]): string =>
  keyOf(lock.projectId, lock.cardId, lock.sessionKey);

const parse = (message: PointsReservationCommand): ReserveCommand => ({
  projectId: message.projectId,
  sessionKey: message.sessionKey,
  now: instantIn(message),
  reservations: message.reservations.map(({ cardId, points, expiresAt }) => ({
    cardId,
    points,
    expiresAt: expiresAt === undefined ? 0 : timestampMs(expiresAt),
  })),
});

const toOutcome = ({ reserved, previous }: ReserveDecision): PointsReservationOutcome => ({
  $typeName: "scrip.loyalty.v1.PointsReservationOutcome",
  reserved,
  previous: previous.map(({ cardId, points, expiresAt }) => ({
    $typeName: "scrip.loyalty.v1.PointsReservation",
    cardId,
    // Who holds something of a card has opened it.
    initialPoints: 0n,
    points,
    expiresAt: timestampFromMs(expiresAt),
  })),
});
