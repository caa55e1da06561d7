import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { Account } from "../domain/account.ts";
import type { Card, Lot, NewLedgerEntry } from "../domain/card.ts";
import { localDateAt, type LocalDate } from "../domain/local-date.ts";
import { chainNewEntries } from "../ledger/chain-ledger.ts";
import { saveCards } from "../store/cards.ts";
import { insertEntries } from "../store/ledger-entries.ts";
import { findActiveLots, saveLots } from "../store/points-lots.ts";
import { DEFAULT_CALENDAR, findCalendars } from "../store/project-calendars.ts";

/**
 * The cards with their lots. Only cards that `needsLots` names, and those that have points to expire, are looked up:
 * the others have no lots with points.
 */
export async function loadAccounts(
  db: Queryable,
  cards: ReadonlyMap<string, Card>,
  needsLots: (key: string) => boolean = () => false,
): Promise<ReadonlyMap<string, Account>> {
  const withLots = [...cards]
    .filter(([key, card]) => card.nextExpiresOn !== null || needsLots(key))
    .map(([, { projectId, id: cardId }]) => ({ projectId, cardId }));
  const lots = await findActiveLots(db, withLots);
  return new Map([...cards].map(([key, card]) => [key, { card, lots: lots.get(key) ?? [] }]));
}

/** Writes what changed between two states of locked accounts, and the entries that explain it. */
export async function saveAccounts(
  tx: Queryable,
  {
    before,
    after,
    entries,
    at,
  }: {
    readonly before: ReadonlyMap<string, Account>;
    readonly after: ReadonlyMap<string, Account>;
    readonly entries: readonly NewLedgerEntry[];
    /** The time of the change of a project. */
    readonly at: (projectId: string) => number;
  },
): Promise<void> {
  const changed = [...after].filter(([key, account]) => before.get(key)?.card !== account.card);
  const lots = changed.flatMap(([key, { card, lots: ofCard }]) => {
    const known = new Set<Lot>(before.get(key)?.lots);
    const { projectId, id: cardId } = card;
    return ofCard
      .filter((lot) => !known.has(lot))
      .map((lot) => ({ ...lot, projectId, cardId, at: at(projectId) }));
  });
  const chained = await chainNewEntries(
    tx,
    new Map(changed.map(([key, { card }]) => [key, card])),
    entries,
  );
  await Promise.all([
    saveCards(tx, [...chained.cards.values()]),
    saveLots(tx, lots),
    insertEntries(tx, chained.entries),
  ]);
}

/** The clocks of a project are less than this ahead of UTC, also with an offset that no country has. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/** The current dates of projects: that of the call for its own project; by sandbox clocks or real time for the others. */
export async function loadCurrentDates(
  db: Queryable,
  projectIds: readonly string[],
  { project, now }: Pick<Call, "project" | "now">,
): Promise<ReadonlyMap<string, LocalDate>> {
  const own: readonly (readonly [string, LocalDate])[] = [
    [project.id, localDateAt(project.timeZone, now)],
  ];
  const others = projectIds.filter((id) => id !== project.id);
  if (others.length === 0) return new Map(own);
  const calendars = await findCalendars(db, others);
  const ofOthers = others.map((projectId): readonly [string, LocalDate] => {
    const { timeZone, sandboxNow } = calendars.get(projectId) ?? DEFAULT_CALENDAR;
    return [projectId, localDateAt(timeZone, sandboxNow ?? now)];
  });
  return new Map([...own, ...ofOthers]);
}

/** The current dates of projects, at a time of each project's clock. */
export async function loadDates(
  db: Queryable,
  times: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, LocalDate>> {
  if (times.size === 0) return new Map();
  const calendars = await findCalendars(db, [...times.keys()]);
  return new Map(
    [...times].map(([projectId, now]) => {
      const { timeZone } = calendars.get(projectId) ?? DEFAULT_CALENDAR;
      return [projectId, localDateAt(timeZone, now)];
    }),
  );
}

/** Whether points of the card may have expired at this time, in whichever time zone. */
export const mayBeDue = ({ nextExpiresOn }: Pick<Card, "nextExpiresOn">, now: number): boolean =>
  nextExpiresOn !== null && nextExpiresOn < localDateAt("UTC", now + MAX_AHEAD_MS);
