import { enqueue, INTERNAL } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { type Account, expireLots, isDue } from "../domain/account.ts";
import type { Card, NewLedgerEntry } from "../domain/card.ts";
import type { LocalDate } from "../domain/local-date.ts";
import { pointsMovedEvent } from "../events/points-moved.ts";
import { findLocksOfCards } from "../store/points-locks.ts";
import { loadAccounts, loadDates, mayBeDue, saveAccounts } from "./accounts.ts";
import { trimLocks } from "./trim-locks.ts";

/**
 * Expires points of locked cards that are past their date and returns the cards after it: every change of points does
 * this first, whether or not the nightly job has run. Costs no statement unless a card has such points.
 */
export async function expireDue(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  {
    cards,
    times,
    expiredBefore,
  }: {
    readonly cards: ReadonlyMap<string, Card>;
    /** The current time of each project. */
    readonly times: ReadonlyMap<string, number>;
    /** The date before which points expire; default: the date of each project. */
    readonly expiredBefore?: LocalDate | undefined;
  },
): Promise<ReadonlyMap<string, Card>> {
  const timeOf = (projectId: string): number => times.get(projectId) ?? 0;
  const suspects = new Map([...cards].filter(([, card]) => mayBeDue(card, timeOf(card.projectId))));
  if (suspects.size === 0) return cards;
  const dates =
    expiredBefore === undefined
      ? await loadDates(tx, times)
      : new Map([...times.keys()].map((projectId) => [projectId, expiredBefore]));
  const due = new Map(
    [...suspects].filter(([, card]) => isDue(card, dates.get(card.projectId) ?? "")),
  );
  if (due.size === 0) return cards;
  const before = await loadAccounts(tx, due);
  const { after, entries } = expireAll(before, { dates, timeOf, newId: deps.newId });
  const locks = await findLocksOfCards(
    tx,
    [...due.values()].map(({ projectId, id }) => ({ projectId, cardId: id })),
  );
  await Promise.all([
    saveAccounts(tx, { before, after, entries, at: timeOf }),
    trimLocks(tx, { accounts: after, locks, now: timeOf }),
    enqueue(
      tx,
      entries.map((entry) => pointsMovedEvent(deps.newId("event"), entry)),
      INTERNAL,
    ),
  ]);
  return new Map([...cards].map(([key, card]) => [key, after.get(key)?.card ?? card]));
}

function expireAll(
  before: ReadonlyMap<string, Account>,
  {
    dates,
    timeOf,
    newId,
  }: {
    readonly dates: ReadonlyMap<string, LocalDate>;
    readonly timeOf: (projectId: string) => number;
    readonly newId: Deps["newId"];
  },
): {
  readonly after: ReadonlyMap<string, Account>;
  readonly entries: readonly NewLedgerEntry[];
} {
  const after = new Map<string, Account>();
  const entries: NewLedgerEntry[] = [];
  for (const [key, account] of before) {
    const { projectId } = account.card;
    const expired = expireLots(account, dates.get(projectId) ?? "", {
      at: timeOf(projectId),
      newLotId: () => newId("lopb"),
    });
    if (expired === null) continue;
    after.set(key, expired.account);
    entries.push({ ...expired.entry, id: newId("vtx") });
  }
  return { after, entries };
}
