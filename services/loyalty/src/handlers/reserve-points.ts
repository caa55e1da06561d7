import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type PointsLock } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import { decidePointsReservations } from "../domain/reserve-points.ts";
import {
  reservePointsCommandFromProto,
  reservePointsOutcomeToProto,
} from "../mapping/points-reservation.ts";
import { expireDue } from "../points/expire-due.ts";
import { openAndLockCards } from "../store/cards.ts";
import {
  deleteLocks,
  findLocksOfCards,
  findLocksOfSessions,
  upsertLocks,
} from "../store/points-locks.ts";

/** Decides under the row locks of the cards, so that two sessions cannot lock the same points. */
export const reservePoints =
  (deps: Deps): Handler<typeof CardService.method.reservePoints> =>
  async (request) => {
    const commands = request.commands.map(reservePointsCommandFromProto);
    const cards = request.commands.flatMap(({ projectId, reservations }) =>
      reservations.map(({ cardId, initialPoints }) => ({ projectId, cardId, initialPoints })),
    );
    const at = Math.max(0, ...commands.map(({ now }) => now));
    const decisions = await deps.db.transaction(async (tx) => {
      const times = new Map(commands.map(({ projectId, now }) => [projectId, now]));
      const locked = await expireDue(tx, deps, {
        cards: await openAndLockCards(tx, cards, at),
        times,
      });
      const [ofCards, ofSessions] = await Promise.all([
        findLocksOfCards(tx, cards),
        findLocksOfSessions(tx, commands),
      ]);
      const all = new Map([...ofCards, ...ofSessions].map((lock) => [lockKey(lock), lock]));
      const result = decidePointsReservations(commands, {
        cards: locked,
        locks: [...all.values()],
      });
      const sessions = result.locks;
      const replaced = ofSessions.filter((lock) =>
        sessions.has(keyOf(lock.projectId, lock.sessionKey)),
      );
      await Promise.all([
        deleteLocks(tx, replaced),
        upsertLocks(tx, [...sessions.values()].flat()),
      ]);
      return result.decisions;
    });
    return {
      $typeName: "scrip.loyalty.v1.ReservePointsResponse",
      outcomes: decisions.map(reservePointsOutcomeToProto),
    };
  };

const lockKey = (lock: PointsLock): string => keyOf(lock.projectId, lock.cardId, lock.sessionKey);
