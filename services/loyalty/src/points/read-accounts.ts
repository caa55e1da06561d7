import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import { isDue, spendableLots, withoutDueLots } from "../domain/account.ts";
import { type Card } from "../domain/card.ts";
import type { LocalDate } from "../domain/local-date.ts";
import { loadAccounts, loadCurrentDates, loadDates, mayBeDue } from "./accounts.ts";

/** Cards as readers see them: points past their date count as expired. Without such points, costs no statement. */
export async function withoutDuePoints(
  db: Queryable,
  cards: ReadonlyMap<string, Card>,
  times: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Card>> {
  const suspects = [...cards.values()].filter((card) =>
    mayBeDue(card, times.get(card.projectId) ?? 0),
  );
  if (suspects.length === 0) return cards;
  return expiredCards(db, cards, await loadDates(db, times));
}

async function expiredCards(
  db: Queryable,
  cards: ReadonlyMap<string, Card>,
  dates: ReadonlyMap<string, LocalDate>,
): Promise<ReadonlyMap<string, Card>> {
  const dateOf = ({ projectId }: Card): LocalDate => dates.get(projectId) ?? "";
  const due = new Map([...cards].filter(([, card]) => isDue(card, dateOf(card))));
  if (due.size === 0) return cards;
  const accounts = await loadAccounts(db, due);
  return new Map(
    [...cards].map(([key, card]) => {
      const account = accounts.get(key);
      return [key, account === undefined ? card : withoutDueLots(account, dateOf(card)).card];
    }),
  );
}

/**
 * Cards with their figures on their projects' dates, for responses: pending holds have taken the points that expire
 * next. Costs a statement more when a card has points that expire.
 */
export async function readCards(
  db: Queryable,
  cards: ReadonlyMap<string, Card>,
  call: Pick<Call, "project" | "now">,
): Promise<ReadonlyMap<string, Card>> {
  const withLots = [...cards.values()].filter(({ nextExpiresOn }) => nextExpiresOn !== null);
  if (withLots.length === 0) return cards;
  const dates = await loadCurrentDates(
    db,
    withLots.map(({ projectId }) => projectId),
    call,
  );
  const expired = await expiredCards(db, cards, dates);
  const held = new Map(
    [...expired].filter(([, card]) => card.heldPoints > 0n && card.nextExpiresOn !== null),
  );
  if (held.size === 0) return expired;
  const accounts = await loadAccounts(db, held);
  return new Map(
    [...expired].map(([key, card]) => {
      const account = accounts.get(key);
      if (account === undefined) return [key, card];
      const lots = spendableLots(account, dates.get(card.projectId) ?? "");
      const next = lots.find(({ points }) => points > 0n);
      const nextExpiresOn = next?.expiresOn ?? null;
      return [key, { ...card, nextExpiresOn, nextExpiringPoints: next?.points ?? 0n }];
    }),
  );
}
