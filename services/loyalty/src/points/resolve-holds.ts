import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { Account } from "../domain/account.ts";
import type { Card, PointsHold } from "../domain/card.ts";
import { expiryDate } from "../domain/expiry-date.ts";
import { keyOf } from "../domain/key.ts";
import {
  type HoldResolution,
  type PointsRefund,
  type RefundDate,
  resolveHolds as decide,
  type ResolveHoldsResult,
} from "../domain/resolve-holds.ts";
import { chainNewEntries } from "../ledger/chain-ledger.ts";
import { lockCards, saveBalances } from "../store/cards.ts";
import { findCauses, findLotsOfHolds, insertEntries } from "../store/ledger-entries.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import { findPointsHolds, updateResolvedHolds } from "../store/points-holds.ts";
import { findLocksOfCards, upsertLocks } from "../store/points-locks.ts";
import { changeStocks } from "../store/rewards.ts";
import { loadAccounts, loadDates, saveAccounts } from "./accounts.ts";
import { expireDue } from "./expire-due.ts";

/**
 * Claims, releases and refunds holds in one transaction, under the locks of their cards. Idempotent. Returns the
 * holds as they were before.
 */
export async function resolveHolds(
  { db, newId }: Pick<Deps, "db" | "newId">,
  work: {
    readonly resolutions?: readonly HoldResolution[];
    readonly refunds?: readonly PointsRefund[];
  },
): Promise<readonly PointsHold[]> {
  const { resolutions = [], refunds = [] } = work;
  const keys = [...resolutions, ...refunds].map(({ projectId, holdId: id }) => ({ projectId, id }));
  // A hold never changes its card, so this read needs no lock.
  const known = await findPointsHolds(db, keys);
  if (known.length === 0) return [];
  await db.transaction(async (tx) => {
    const before = await lockAccounts(tx, { newId }, { holds: known, refunds });
    // Read again under the locks, to see holds that were resolved concurrently.
    const [holds, causes, locks, taken] = await Promise.all([
      findPointsHolds(tx, keys),
      findCauses(tx, refundCauses(known, refunds)),
      findLocksOfCards(tx, known),
      findLotsOfHolds(tx, holdsOfRefunds(known, refunds)),
    ]);
    const usesLots = taken.size > 0 || [...before.values()].some(hasLots);
    const refundDates = usesLots
      ? await loadRefundDates(tx, { holds, refunds, before })
      : new Map();
    const result = decide(
      {
        accounts: before,
        holds,
        causes,
        locks,
        taken,
        refundDates,
        newId: () => newId("vtx"),
        newLotId: () => newId("lopb"),
      },
      { resolutions, refunds },
    );
    if (usesLots) await writeWithLots(tx, { before, result, refunds });
    else await write(tx, result);
  });
  return known;
}

const hasLots = ({ card }: Account): boolean => card.nextExpiresOn !== null;

/** Locks the cards of holds, with their lots. Refunds are changes of their own: what is past its date expires first. */
async function lockAccounts(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  {
    holds,
    refunds,
  }: { readonly holds: readonly PointsHold[]; readonly refunds: readonly PointsRefund[] },
): Promise<ReadonlyMap<string, Account>> {
  const cards = await lockCards(tx, holds);
  const times = new Map(refunds.map(({ projectId, at }) => [projectId, at]));
  const refunded = new Set(
    holdsOfRefunds(holds, refunds).map(({ projectId, cardId }) => keyOf(projectId, cardId)),
  );
  if (refunded.size === 0) return loadAccounts(tx, cards);
  return loadAccounts(tx, await expireDue(tx, deps, { cards, times }), (key) => refunded.has(key));
}

function holdsOfRefunds(
  holds: readonly PointsHold[],
  refunds: readonly PointsRefund[],
): readonly PointsHold[] {
  const ids = new Set(refunds.map(({ projectId, holdId }) => keyOf(projectId, holdId)));
  return holds.filter(({ projectId, id }) => ids.has(keyOf(projectId, id)));
}

/** Points whose lot has expired since the redemption get the date that the program's rules give now. */
async function loadRefundDates(
  tx: Queryable,
  {
    holds,
    refunds,
    before,
  }: {
    readonly holds: readonly PointsHold[];
    readonly refunds: readonly PointsRefund[];
    readonly before: ReadonlyMap<string, Account>;
  },
): Promise<ReadonlyMap<string, RefundDate>> {
  const cards = new Map(
    holds.map(({ projectId, id, cardId }) => [
      keyOf(projectId, id),
      before.get(keyOf(projectId, cardId))?.card,
    ]),
  );
  const [dates, programs] = await Promise.all([
    loadDates(tx, new Map(refunds.map(({ projectId, at }) => [projectId, at]))),
    findPrograms(tx, programsOf([...cards.values()])),
  ]);
  return new Map(
    refunds.map(({ projectId, holdId, rollbackId }) => {
      const today = dates.get(projectId) ?? "";
      const campaignId = cards.get(keyOf(projectId, holdId))?.campaignId ?? "";
      const rules = programs.get(keyOf(projectId, campaignId))?.expirationRules ?? null;
      return [keyOf(projectId, rollbackId), { today, expiresOn: expiryDate(rules, today) }];
    }),
  );
}

const programsOf = (cards: readonly (Card | undefined)[]) =>
  cards.flatMap((card) =>
    card?.campaignId == null ? [] : [{ projectId: card.projectId, campaignId: card.campaignId }],
  );

function refundCauses(holds: readonly PointsHold[], refunds: readonly PointsRefund[]) {
  const cards = new Map(holds.map((hold) => [keyOf(hold.projectId, hold.id), hold.cardId]));
  return refunds.flatMap(({ projectId, holdId, rollbackId: cause }) => {
    const cardId = cards.get(keyOf(projectId, holdId));
    return cardId === undefined ? [] : [{ projectId, cardId, cause }];
  });
}

async function write(tx: Queryable, result: ResolveHoldsResult): Promise<void> {
  if (result.resolved.length === 0 && result.entries.length === 0) return;
  const accounts = [...result.accounts];
  const { cards, entries } = await chainNewEntries(
    tx,
    new Map(accounts.map(([key, { card }]) => [key, card])),
    result.entries,
  );
  await Promise.all([
    saveBalances(tx, [...cards.values()]),
    insertEntries(tx, entries),
    writeHolds(tx, result),
  ]);
}

async function writeWithLots(
  tx: Queryable,
  {
    before,
    result,
    refunds,
  }: {
    readonly before: ReadonlyMap<string, Account>;
    readonly result: ResolveHoldsResult;
    readonly refunds: readonly PointsRefund[];
  },
): Promise<void> {
  const times = new Map(result.entries.map(({ projectId, at }) => [projectId, at]));
  for (const { projectId, at } of refunds) times.set(projectId, at);
  await Promise.all([
    saveAccounts(tx, {
      before,
      after: result.accounts,
      entries: result.entries,
      at: (projectId) => times.get(projectId) ?? 0,
    }),
    writeHolds(tx, result),
  ]);
}

const writeHolds = (
  tx: Queryable,
  { resolved, restoredLocks, stockChanges }: ResolveHoldsResult,
): Promise<unknown> =>
  Promise.all([
    updateResolvedHolds(tx, resolved),
    upsertLocks(tx, restoredLocks),
    changeStocks(tx, stockChanges),
  ]);
