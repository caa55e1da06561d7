import type { Card } from "./card.ts";
import type { LocalDate } from "./local-date.ts";

/** Sums of the entries until a time, of one card or of several. */
export type PointsAsOf = {
  readonly cards: bigint;
  readonly initialPoints: bigint;
  /** Points by type of entry. */
  readonly entries: ReadonlyMap<string, bigint>;
  /** Points by the last day on which they can be spent. */
  readonly lots: ReadonlyMap<LocalDate, bigint>;
  readonly pendingPoints: bigint;
};

export const NO_POINTS: PointsAsOf = {
  cards: 0n,
  initialPoints: 0n,
  entries: new Map(),
  lots: new Map(),
  pendingPoints: 0n,
};

/** The points of cards together. */
export const addPoints = (one: PointsAsOf, other: PointsAsOf): PointsAsOf => ({
  cards: one.cards + other.cards,
  initialPoints: one.initialPoints + other.initialPoints,
  entries: addByKey(one.entries, other.entries),
  lots: addByKey(one.lots, other.lots),
  pendingPoints: one.pendingPoints + other.pendingPoints,
});

function addByKey(
  one: ReadonlyMap<string, bigint>,
  other: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, bigint> {
  const sums = new Map(one);
  for (const [key, points] of other) sums.set(key, (sums.get(key) ?? 0n) + points);
  return sums;
}

type Figures = Pick<
  Card,
  | "points"
  | "balance"
  | "redeemedPoints"
  | "subtractedPoints"
  | "expiredPoints"
  | "pendingPoints"
  | "nextExpiresOn"
  | "nextExpiringPoints"
>;

/** The figures of a card on a date: points past their date count as expired, whether or not a job had expired them. */
export function figuresAsOf(state: PointsAsOf, today: LocalDate): Figures {
  const { entries, initialPoints, pendingPoints } = state;
  const of = (...types: readonly string[]): bigint =>
    types.reduce((sum, type) => sum + (entries.get(type) ?? 0n), 0n);
  const due = duePoints(state, today);
  const redeemedPoints = -of("POINTS_REDEMPTION", "POINTS_REFUND");
  const subtractedPoints = -of("POINTS_REMOVAL", "POINTS_TRANSFER_OUT");
  const expiredPoints = due - of("POINTS_EXPIRATION");
  const changes = [...entries.values()].reduce((sum, points) => sum + points, 0n);
  const balance = initialPoints + changes - due;
  const [next] = activeLots(state, today);
  return {
    points: balance + redeemedPoints + subtractedPoints + expiredPoints,
    balance,
    redeemedPoints,
    subtractedPoints,
    expiredPoints,
    pendingPoints,
    nextExpiresOn: next?.[0] ?? null,
    nextExpiringPoints: next?.[1] ?? 0n,
  };
}

export type Liability = {
  readonly outstanding: bigint;
  readonly pending: bigint;
  readonly neverExpiring: bigint;
  /** By month (`YYYY-MM`), earliest first. */
  readonly expiring: readonly { readonly month: string; readonly points: bigint }[];
};

/** Points owed to the holders of cards on a date. */
export function liabilityAsOf(state: PointsAsOf, today: LocalDate): Liability {
  const { balance: outstanding, pendingPoints: pending } = figuresAsOf(state, today);
  const lots = activeLots(state, today);
  const months = Map.groupBy(lots, ([date]) => date.slice(0, "YYYY-MM".length));
  const sum = (some: typeof lots) => some.reduce((all, [, points]) => all + points, 0n);
  return {
    outstanding,
    pending,
    neverExpiring: outstanding - sum(lots),
    expiring: [...months].map(([month, ofMonth]) => ({ month, points: sum(ofMonth) })),
  };
}

const duePoints = ({ lots }: PointsAsOf, today: LocalDate): bigint =>
  [...lots].reduce((sum, [date, points]) => (date < today ? sum + points : sum), 0n);

const activeLots = (
  { lots }: PointsAsOf,
  today: LocalDate,
): readonly (readonly [date: LocalDate, points: bigint])[] =>
  [...lots]
    .filter(([date, points]) => date >= today && points !== 0n)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
