import { type Card, ledgerEntry, type LedgerEntry, type Lot, type LotChange } from "./card.ts";
import type { LocalDate } from "./local-date.ts";

/**
 * A locked card with its lots (docs/loyalty.md#expiration). Points that no lot holds never expire, so that the sum of the
 * active lots and of these points is the balance by construction.
 */
export type Account = {
  readonly card: Card;
  /** Earliest first; those that expired in this transaction are marked. */
  readonly lots: readonly Lot[];
};

/** The figure of the card that a change counts in, besides the balance. */
export type Figure = "points" | "redeemedPoints" | "subtractedPoints" | "expiredPoints";

type EntryFields = Pick<LedgerEntry, "type" | "cause" | "at"> & Partial<LedgerEntry>;

export type AccountChange = { readonly account: Account; readonly entry: LedgerEntry };

type LotIds = () => string;

/** Adds points that expire on a date, or never; credits of one date share a lot. */
export function creditAccount(
  account: Account,
  { points, expiresOn }: { readonly points: bigint; readonly expiresOn: LocalDate | null },
  { newLotId, ...fields }: EntryFields & { readonly newLotId: LotIds },
): AccountChange {
  const lots = expiresOn === null ? [] : [{ expiresOn, points }];
  return record(putIntoLots(account, lots, newLotId), "points", { ...fields, points, lots });
}

/** Takes points, those that expire first before others. The caller has checked that the balance suffices. */
export function debitAccount(
  account: Account,
  { points, figure }: { readonly points: bigint; readonly figure: Figure },
  fields: EntryFields,
): AccountChange {
  const taken = takeFromLots(account, points);
  return record(taken.account, figure, { ...fields, points: -points, lots: taken.lots });
}

/**
 * Returns redeemed points to the lots that they came from; what has expired since, into a lot of the date that
 * the program's rules give today (null: it never expires).
 */
export function refundAccount(
  account: Account,
  refund: {
    readonly points: bigint;
    /** The changes of lots by the redemption (negative). */
    readonly taken: readonly LotChange[];
    readonly today: LocalDate;
    readonly expiresOn: LocalDate | null;
  },
  { newLotId, ...fields }: EntryFields & { readonly newLotId: LotIds },
): AccountChange {
  const { points, taken, today } = refund;
  const lots = taken.flatMap(({ expiresOn, points: change }): LotChange[] => {
    const date = expiresOn < today ? refund.expiresOn : expiresOn;
    return date === null ? [] : [{ expiresOn: date, points: -change }];
  });
  return record(putIntoLots(account, lots, newLotId), "redeemedPoints", {
    ...fields,
    points,
    lots: mergeByDate(lots),
  });
}

/** Whether a lot with points is past its date. */
export const isDue = ({ nextExpiresOn }: Card, today: LocalDate): boolean =>
  nextExpiresOn !== null && nextExpiresOn < today;

/**
 * Expires the lots that are past their date. Held points take the earliest lots first, and what they take does not
 * expire: a lot that they share is split. Returns null when nothing expires.
 */
export function expireLots(
  account: Account,
  today: LocalDate,
  { newLotId, ...fields }: Omit<EntryFields, "type" | "cause"> & { readonly newLotId: LotIds },
): AccountChange | null {
  let held = account.card.heldPoints;
  const lots: Lot[] = [];
  const expiredLots: Lot[] = [];
  for (const lot of account.lots) {
    if (lot.expired || lot.expiresOn >= today) {
      lots.push(lot);
      continue;
    }
    const remaining = held < lot.points ? held : lot.points;
    held -= remaining;
    const points = lot.points - remaining;
    if (remaining > 0n) lots.push({ ...lot, points: remaining });
    if (remaining > 0n && points === 0n) continue;
    const id = remaining > 0n ? newLotId() : lot.id;
    const expired = { ...lot, id, points, expired: true };
    lots.push(expired);
    if (points > 0n) expiredLots.push(expired);
  }
  const changes = expiredLots.map(({ expiresOn, points }) => ({ expiresOn, points: -points }));
  const points = sumOf(changes);
  if (points === 0n) return null;
  return record({ ...account, lots }, "expiredPoints", {
    ...fields,
    type: "POINTS_EXPIRATION",
    source: "Automation",
    cause: `expiration:${account.card.ledgerVersion + 1n}`,
    points,
    lots: changes,
    expiredLots,
  });
}

/** The lots that hold points, and can be spent on this date: pending holds have taken the earliest. */
export function spendableLots({ card, lots }: Account, today: LocalDate): readonly Lot[] {
  let held = card.heldPoints;
  return lots.flatMap((lot) => {
    if (lot.expired) return [];
    const taken = held < lot.points ? held : lot.points;
    held -= taken;
    return lot.expiresOn < today ? [] : [{ ...lot, points: lot.points - taken }];
  });
}

/** The account without expired points, as a reader sees it before the nightly job has run. */
export const withoutDueLots = (account: Account, today: LocalDate): Account =>
  isDue(account.card, today)
    ? (expireLots(account, today, { at: 0, newLotId: () => "" })?.account ?? account)
    : account;

function takeFromLots(account: Account, points: bigint) {
  let missing = points;
  const changes: LotChange[] = [];
  const lots = account.lots.map((lot) => {
    const taken = lot.expired || missing === 0n ? 0n : missing < lot.points ? missing : lot.points;
    if (taken === 0n) return lot;
    missing -= taken;
    changes.push({ expiresOn: lot.expiresOn, points: -taken });
    return { ...lot, points: lot.points - taken };
  });
  return { account: { ...account, lots }, lots: mergeByDate(changes) };
}

function putIntoLots(account: Account, changes: readonly LotChange[], newLotId: LotIds): Account {
  const lots = [...account.lots];
  for (const { expiresOn, points } of changes) {
    const at = lots.findIndex((lot) => !lot.expired && lot.expiresOn === expiresOn);
    const known = lots[at];
    if (known === undefined) lots.push({ id: newLotId(), expiresOn, points, expired: false });
    else lots[at] = { ...known, points: known.points + points };
  }
  return { ...account, lots: lots.toSorted(byDate) };
}

const byDate = (a: Lot, b: Lot): number =>
  a.expiresOn < b.expiresOn ? -1 : a.expiresOn > b.expiresOn ? 1 : 0;

function mergeByDate(changes: readonly LotChange[]): readonly LotChange[] {
  const groups = Map.groupBy(changes, ({ expiresOn }) => expiresOn);
  return [...groups].map(([expiresOn, ofDate]) => ({ expiresOn, points: sumOf(ofDate) }));
}

const sumOf = (changes: readonly LotChange[]): bigint =>
  changes.reduce((sum, { points }) => sum + points, 0n);

/** Counts the change in the figures of the card, and builds its entry. */
function record(
  { card, lots }: Account,
  figure: Figure,
  fields: EntryFields & Pick<LedgerEntry, "points" | "lots">,
): AccountChange {
  const { points } = fields;
  const after: Card = {
    ...card,
    // Only `points` grows with the balance; the others count what left it.
    [figure]: figure === "points" ? card.points + points : card[figure] - points,
    balance: card.balance + points,
    ledgerVersion: card.ledgerVersion + 1n,
    ...nextExpiration(lots),
  };
  return { account: { card: after, lots }, entry: ledgerEntry(after, fields) };
}

function nextExpiration(lots: readonly Lot[]): Pick<Card, "nextExpiresOn" | "nextExpiringPoints"> {
  const next = lots.find((lot) => !lot.expired && lot.points > 0n);
  return { nextExpiresOn: next?.expiresOn ?? null, nextExpiringPoints: next?.points ?? 0n };
}
