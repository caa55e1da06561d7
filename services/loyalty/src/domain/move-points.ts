import {
  type Account,
  creditAccount,
  debitAccount,
  expireLots,
  type Figure,
  isDue,
} from "./account.ts";
import {
  availablePoints,
  type Card,
  type CardReference,
  type NewLedgerEntry,
  pointsLockedByOthers,
  type PointsLock,
} from "./card.ts";
import { keyOf } from "./key.ts";
import type { LocalDate } from "./local-date.ts";

/** Changes of points other than redemptions and their rollbacks, which go through holds. */
export type MovementType =
  | "POINTS_ACCRUAL"
  | "PENDING_POINTS_ACTIVATION"
  | "POINTS_ADDITION"
  | "POINTS_REMOVAL"
  | "POINTS_TRANSFER_OUT"
  | "POINTS_TRANSFER_IN";

type MovementKind = {
  readonly adds: boolean;
  readonly figure: Figure;
  /** Origin that the transaction shows, unless the movement has another. */
  readonly source: string | null;
};

const KINDS: Readonly<Record<MovementType, MovementKind>> = {
  POINTS_ACCRUAL: { adds: true, figure: "points", source: "Automation" },
  PENDING_POINTS_ACTIVATION: { adds: true, figure: "points", source: null },
  POINTS_ADDITION: { adds: true, figure: "points", source: "API" },
  POINTS_REMOVAL: { adds: false, figure: "subtractedPoints", source: "API" },
  POINTS_TRANSFER_OUT: { adds: false, figure: "subtractedPoints", source: "API" },
  POINTS_TRANSFER_IN: { adds: true, figure: "points", source: "API" },
};

/** One change of one card. */
export type PointsMovement = {
  readonly card: CardReference;
  readonly type: MovementType;
  /** Points to add or to take, above zero. */
  readonly points: bigint;
  /** Credits: the last day on which the points can be spent; null: they never expire. */
  readonly expiresOn?: LocalDate | null;
  /** Cause of the movement, such as an order with its earning rule. A cause moves points on a card once. */
  readonly cause: string;
  /** Time of the project. */
  readonly at: number;
  /** Points of the card that expired before this date, usually the current one, are deducted first. */
  readonly expiredBefore: LocalDate;
  /** Change of the card's pending points; they must suffice. */
  readonly pendingPoints?: bigint;
  readonly source?: string | null;
  readonly sourceId?: string | null;
  readonly reason?: string | null;
  /** JSON text, or what builds it from the cards after all movements. */
  readonly details?: string | null | ((cardAfter: (card: CardReference) => Card) => string);
  /** Position of the other movement of a transfer. */
  readonly linkedTo?: number;
};

export type MovementRejection = "loyalty_card_points_exceeded" | "invalid_amount";

export type MovementDecision =
  | { readonly kind: "moved"; readonly entry: NewLedgerEntry; readonly card: Card }
  /** The cause has moved its points before, by this entry. */
  | { readonly kind: "repeated"; readonly entry: RecordedEntry }
  | {
      readonly kind: "rejected";
      readonly key: MovementRejection;
      /** The most points that could be moved. */
      readonly limit: bigint;
    };

/** The part of the first entry that a repeated movement returns. */
export type RecordedEntry = Pick<NewLedgerEntry, "id" | "balanceAfter" | "totalAfter">;

export type MovePointsState = {
  /** Locked cards with their active lots, by `keyOf` of project and card. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** Session locks of the cards. */
  readonly locks: readonly PointsLock[];
  /** Entries of the movements' causes, by `keyOf` of project, card and cause. */
  readonly recorded: ReadonlyMap<string, RecordedEntry>;
  readonly newId: () => string;
  readonly newLotId: () => string;
};

export type MovePointsResult = {
  /** In the order of the movements. */
  readonly decisions: readonly MovementDecision[];
  readonly accounts: ReadonlyMap<string, Account>;
  /** Including the expirations that came before the movements. */
  readonly entries: readonly NewLedgerEntry[];
};

/** The most points that a card can be given in total, with those that are pending. */
const MAX_POINTS = 10_000_000_000_000n;

/**
 * Points that the card can still be given: pending ones have their place, so that each can become active. Cards of an
 * earlier release may have been given more.
 */
export function remainingCapacityOf({
  points,
  pendingPoints,
}: Pick<Card, "points" | "pendingPoints">): bigint {
  const room = MAX_POINTS - points - pendingPoints;
  return room < 0n ? 0n : room;
}

/**
 * Decides movements over locked cards, in order: each sees the effects of those before it, and every card first
 * loses what is past its date. Rejected and repeated movements change nothing.
 */
export function decideMovements(
  movements: readonly PointsMovement[],
  state: MovePointsState,
): MovePointsResult {
  const draft = {
    accounts: new Map(state.accounts),
    recorded: new Map(state.recorded),
    entries: [] as NewLedgerEntry[],
  };
  for (const movement of movements) expireFirst(movement, draft, state);
  // Ids in the order of the entries: a card's transactions are listed by id.
  const ids = movements.map(() => state.newId());
  const decisions = movements.map((movement, index): MovementDecision => {
    const key = cardKeyOf(movement);
    const account = accountOf(draft.accounts, key);
    const cause = keyOf(movement.card.projectId, movement.card.cardId, movement.cause);
    const recorded = draft.recorded.get(cause);
    if (recorded !== undefined) return { kind: "repeated", entry: recorded };
    const rejected = rejectionOf(movement, account.card, state.locks);
    if (rejected !== null) return rejected;
    const relatedId = movement.linkedTo === undefined ? null : (ids[movement.linkedTo] ?? null);
    const { account: after, entry } = move(account, movement, { relatedId, ...state });
    const numbered = { ...entry, id: ids[index] ?? "" };
    draft.accounts.set(key, after);
    draft.recorded.set(cause, numbered);
    draft.entries.push(numbered);
    return { kind: "moved", entry: numbered, card: after.card };
  });
  const entries = withDetails(draft.entries, {
    movements: new Map(movements.map((movement, index) => [ids[index] ?? "", movement])),
    accounts: draft.accounts,
  });
  return { decisions, accounts: draft.accounts, entries };
}

/** Builds the details that show cards after all movements. */
function withDetails(
  entries: readonly NewLedgerEntry[],
  {
    movements,
    accounts,
  }: {
    readonly movements: ReadonlyMap<string, PointsMovement>;
    readonly accounts: ReadonlyMap<string, Account>;
  },
): readonly NewLedgerEntry[] {
  const cardAfter = ({ projectId, cardId }: CardReference): Card =>
    accountOf(accounts, keyOf(projectId, cardId)).card;
  return entries.map((entry) => {
    const details = movements.get(entry.id)?.details;
    return typeof details === "function" ? { ...entry, details: details(cardAfter) } : entry;
  });
}

const cardKeyOf = ({ card }: PointsMovement): string => keyOf(card.projectId, card.cardId);

function accountOf(accounts: ReadonlyMap<string, Account>, key: string): Account {
  const account = accounts.get(key);
  if (account === undefined) throw new Error(`card ${key} was not locked`);
  return account;
}

function expireFirst(
  movement: PointsMovement,
  draft: { readonly accounts: Map<string, Account>; readonly entries: NewLedgerEntry[] },
  { newId, newLotId }: MovePointsState,
): void {
  const key = cardKeyOf(movement);
  const account = accountOf(draft.accounts, key);
  if (!isDue(account.card, movement.expiredBefore)) return;
  const expired = expireLots(account, movement.expiredBefore, { at: movement.at, newLotId });
  if (expired === null) return;
  draft.accounts.set(key, expired.account);
  draft.entries.push({ ...expired.entry, id: newId() });
}

function rejectionOf(
  { type, points, at, card: reference }: PointsMovement,
  card: Card,
  locks: readonly PointsLock[],
): MovementDecision | null {
  if (KINDS[type].adds) {
    const limit =
      type === "PENDING_POINTS_ACTIVATION" ? MAX_POINTS - card.points : remainingCapacityOf(card);
    return points <= limit ? null : { kind: "rejected", key: "invalid_amount", limit };
  }
  const ofCard = locks.filter(
    ({ projectId, cardId }) => projectId === reference.projectId && cardId === reference.cardId,
  );
  const limit = availablePoints(card) - pointsLockedByOthers(ofCard, { sessionKey: null, now: at });
  return points <= limit ? null : { kind: "rejected", key: "loyalty_card_points_exceeded", limit };
}

function move(
  account: Account,
  movement: PointsMovement,
  { relatedId, newLotId }: { readonly relatedId: string | null; readonly newLotId: () => string },
) {
  const { type, points, cause, at, expiresOn = null, pendingPoints = 0n } = movement;
  const { adds, figure, source } = KINDS[type];
  const { sourceId = null, reason = null, details = null } = movement;
  const from: Account = {
    ...account,
    card: { ...account.card, pendingPoints: account.card.pendingPoints + pendingPoints },
  };
  const fields = {
    type,
    cause,
    at,
    source: movement.source === undefined ? source : movement.source,
    sourceId,
    reason,
    details: typeof details === "string" ? details : null,
    relatedId,
  };
  return adds
    ? creditAccount(from, { points, expiresOn }, { ...fields, newLotId })
    : debitAccount(from, { points, figure }, fields);
}
