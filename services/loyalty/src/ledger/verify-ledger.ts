import type { LedgerEntryType } from "../domain/card.ts";
import { hashEntry } from "./chain-entries.ts";
import type { CardRecord, EntryRecord, LedgerRecord } from "./ledger-records.ts";

/** The first fault of a card, at an entry or in the figures of the card. */
export type LedgerFault = {
  readonly projectId: string;
  readonly cardId: string;
  /** Null: the figures of the card do not follow from its entries. */
  readonly entry: { readonly version: bigint; readonly id: string } | null;
  readonly details: string;
};

/** Whether entries of a type change the total of the card; redemptions do not. */
const CHANGES_TOTAL: Readonly<Record<string, boolean>> = {
  POINTS_ACCRUAL: true,
  PENDING_POINTS_ACTIVATION: true,
  POINTS_ADDITION: true,
  POINTS_REMOVAL: true,
  POINTS_REDEMPTION: false,
  POINTS_REFUND: false,
  POINTS_EXPIRATION: true,
  POINTS_TRANSFER_OUT: true,
  POINTS_TRANSFER_IN: true,
};

type Sums = {
  points: bigint;
  redeemed: bigint;
  subtracted: bigint;
  expired: bigint;
};

/** What the entries of a card so far result in; of lots only those with points. */
type CardState = Sums & {
  readonly card: CardRecord;
  readonly lots: Map<string, bigint>;
  balance: bigint | null;
  total: bigint | null;
  version: bigint;
  hash: string | null;
  isFaulty: boolean;
};

export type LedgerVerifier = {
  /** Checks the next record; returns the first fault of each card. */
  readonly check: (record: LedgerRecord) => LedgerFault | null;
  /** Checks the figures of the last card. */
  readonly end: () => LedgerFault | null;
  readonly counts: () => { readonly cards: number; readonly entries: number };
};

/** Recomputes balances, lots and chains of a ledger record by record: its memory is that of one card's lots. */
export function createLedgerVerifier(): LedgerVerifier {
  let state: CardState | null = null;
  let cards = 0;
  let entries = 0;
  const end = (): LedgerFault | null => {
    const details = state === null || state.isFaulty ? null : faultOfCard(state);
    return state === null || details === null ? null : faultAt(state.card, details);
  };
  return {
    check: (record) => {
      if (record.record === "card") {
        const fault = end();
        cards += 1;
        state = openCard(record);
        return fault;
      }
      entries += 1;
      if (state?.card.project_id !== record.project_id || state.card.id !== record.card_id) {
        return faultOf(record, "belongs to no card");
      }
      if (state.isFaulty) return null;
      const details = apply(state, record);
      state.isFaulty = details !== null;
      return details === null ? null : faultOf(record, details);
    },
    end,
    counts: () => ({ cards, entries }),
  };
}

const openCard = (card: CardRecord): CardState => ({
  card,
  lots: new Map(),
  points: 0n,
  redeemed: 0n,
  subtracted: 0n,
  expired: 0n,
  balance: null,
  total: null,
  version: 0n,
  hash: null,
  isFaulty: false,
});

const faultAt = (card: CardRecord, details: string): LedgerFault => ({
  projectId: card.project_id,
  cardId: card.id,
  entry: null,
  details,
});

const faultOf = (entry: EntryRecord, details: string): LedgerFault => ({
  projectId: entry.project_id,
  cardId: entry.card_id,
  entry: { version: BigInt(entry.version), id: entry.id },
  details,
});

/** Applies an entry to the state, and returns what is wrong with it. */
function apply(state: CardState, entry: EntryRecord): string | null {
  const points = BigInt(entry.points);
  const balanceAfter = BigInt(entry.balance_after);
  const before = state.balance ?? balanceAfter - points;
  const totalBefore = state.total ?? before;
  const changesTotal = CHANGES_TOTAL[entry.type];
  if (BigInt(entry.version) !== state.version + 1n) {
    return `follows entry ${state.version}: ${state.version + 1n} is missing`;
  }
  if (changesTotal === undefined) return `has the unknown type ${entry.type}`;
  if (before < 0n) return `follows a balance of ${before}`;
  if (balanceAfter !== before + points) {
    return `has a balance of ${balanceAfter}, after ${before} and ${points} points`;
  }
  if (balanceAfter < 0n) return `overdraws the card: ${balanceAfter}`;
  const total = totalBefore + (changesTotal ? points : 0n);
  if (entry.total_after !== null && BigInt(entry.total_after) !== total) {
    return `has a total of ${entry.total_after} instead of ${total}`;
  }
  const lotFault = applyLots(state, entry, balanceAfter);
  if (lotFault !== null) return lotFault;
  const chainFault = faultOfChain(state, entry);
  if (chainFault !== null) return chainFault;
  count(state, entry.type, points);
  if (state.balance === null) state.points += before;
  state.version += 1n;
  state.balance = balanceAfter;
  state.total = total;
  state.hash = entry.hash;
  return null;
}

function applyLots(
  { lots }: CardState,
  { lots: changes }: EntryRecord,
  balance: bigint,
): string | null {
  for (const [date, points] of Object.entries(changes ?? {})) {
    const left = (lots.get(date) ?? 0n) + BigInt(points);
    if (left < 0n) return `takes more points from the lot of ${date} than it has`;
    if (left === 0n) lots.delete(date);
    else lots.set(date, left);
  }
  const sum = [...lots.values()].reduce((all, points) => all + points, 0n);
  return sum > balance ? `leaves ${sum} points in lots and a balance of ${balance}` : null;
}

function faultOfChain(state: CardState, entry: EntryRecord): string | null {
  if (entry.hash === null) return "has no hash yet";
  if (entry.previous_hash !== state.hash) return "does not contain the hash of the entry before it";
  const previous = state.hash === null ? null : Buffer.from(state.hash, "hex");
  const hash = hashEntry(
    {
      projectId: entry.project_id,
      cardId: entry.card_id,
      version: BigInt(entry.version),
      id: entry.id,
      type: entry.type as LedgerEntryType,
      points: BigInt(entry.points),
      balanceAfter: BigInt(entry.balance_after),
      totalAfter: entry.total_after === null ? null : BigInt(entry.total_after),
      cause: entry.cause,
      redemptionId: entry.redemption_id,
      rollbackId: entry.rollback_id,
      rewardId: entry.reward_id,
      campaignId: entry.campaign_id,
      at: Date.parse(entry.created_at),
      lots: Object.entries(entry.lots ?? {}).map(([expiresOn, points]) => ({
        expiresOn,
        points: BigInt(points),
      })),
      source: entry.source,
      sourceId: entry.source_id,
      reason: entry.reason,
      relatedId: entry.related_id,
      details: entry.details === null ? null : JSON.stringify(entry.details),
    },
    previous,
  ).toString("hex");
  return hash === entry.hash ? null : `has the hash ${entry.hash} instead of ${hash}`;
}

function count(sums: Sums, type: string, points: bigint): void {
  if (type === "POINTS_REDEMPTION" || type === "POINTS_REFUND") sums.redeemed -= points;
  else if (type === "POINTS_EXPIRATION") sums.expired -= points;
  else if (type === "POINTS_REMOVAL" || type === "POINTS_TRANSFER_OUT") sums.subtracted -= points;
  else sums.points += points;
}

/** Compares the figures of a card with what its entries result in; a card without entries has its initial points. */
function faultOfCard(state: CardState): string | null {
  const { card, lots } = state;
  const next = [...lots.keys()].toSorted()[0] ?? null;
  const initial = state.balance === null ? BigInt(card.points) : state.points;
  const expected: readonly (readonly [string, string | null, string | null])[] = [
    ["entries", card.ledger_version, String(state.version)],
    ["points", card.points, String(initial)],
    ["redeemed points", card.redeemed_points, String(state.redeemed)],
    ["subtracted points", card.subtracted_points, String(state.subtracted)],
    ["expired points", card.expired_points, String(state.expired)],
    ["points in its balance", card.balance, String(state.balance ?? initial)],
    ["pending points", card.pending_points, card.pending_entries],
    ["the last hash", card.ledger_hash, state.hash],
    ["the next expiration", card.next_expires_on, next],
    ["points that expire next", card.next_expiring_points, String(lots.get(next ?? "") ?? 0n)],
    ["the lots", describeLots(card.lots), describeLots(Object.fromEntries(lots))],
  ];
  const wrong = expected.find(([, stored, computed]) => stored !== computed);
  return wrong === undefined ? null : `${wrong[0]}: stored ${wrong[1]}, computed ${wrong[2]}`;
}

const describeLots = (lots: Readonly<Record<string, string | bigint>>): string =>
  Object.entries(lots)
    .map(([date, points]) => `${date}: ${points}`)
    .toSorted()
    .join(", ") || "none";
