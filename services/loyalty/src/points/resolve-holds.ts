import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { type PointsHold } from "../domain/card.ts";
import { keyOf } from "../domain/key.ts";
import {
  type HoldResolution,
  type PointsRefund,
  resolveHolds as decide,
  type ResolveHoldsResult,
} from "../domain/resolve-holds.ts";
import { lockCards, saveCards } from "../store/cards.ts";
import { findCauses, insertEntries } from "../store/ledger-entries.ts";
import { findPointsHolds, updateResolvedHolds } from "../store/points-holds.ts";
import { findLocksOfCards, upsertLocks } from "../store/points-locks.ts";
import { changeStocks } from "../store/rewards.ts";

/** Claims, releases and refunds holds in one transaction, under the locks of their cards. Idempotent. */
export async function resolveHolds(
  { db, newId }: Pick<Deps, "db" | "newId">,
  work: {
    readonly resolutions?: readonly HoldResolution[];
    readonly refunds?: readonly PointsRefund[];
  },
): Promise<void> {
  const { resolutions = [], refunds = [] } = work;
  const keys = [...resolutions, ...refunds].map(({ projectId, holdId: id }) => ({ projectId, id }));
  // A hold never changes its card, so this read needs no lock.
  const known = await findPointsHolds(db, keys);
  if (known.length === 0) return;
  await db.transaction(async (tx) => {
    const cards = await lockCards(tx, known);
    // Read again under the locks, to see holds that were resolved concurrently.
    const [holds, causes, locks] = await Promise.all([
      findPointsHolds(tx, keys),
      findCauses(tx, refundCauses(known, refunds)),
      findLocksOfCards(tx, known),
    ]);
    const state = { cards, holds, causes, locks, newId: () => newId("vtx") };
    await write(tx, decide(state, { resolutions, refunds }));
  });
}

function refundCauses(holds: readonly PointsHold[], refunds: readonly PointsRefund[]) {
  const cards = new Map(holds.map((hold) => [keyOf(hold.projectId, hold.id), hold.cardId]));
  return refunds.flatMap(({ projectId, holdId, rollbackId: cause }) => {
    const cardId = cards.get(keyOf(projectId, holdId));
    return cardId === undefined ? [] : [{ projectId, cardId, cause }];
  });
}

async function write(
  tx: Queryable,
  { cards, entries, resolved, restoredLocks, stockChanges }: ResolveHoldsResult,
): Promise<void> {
  if (resolved.length === 0 && entries.length === 0) return;
  await Promise.all([
    saveCards(tx, [...cards.values()]),
    insertEntries(tx, entries),
    updateResolvedHolds(tx, resolved),
    upsertLocks(tx, restoredLocks),
    changeStocks(tx, stockChanges),
  ]);
}
