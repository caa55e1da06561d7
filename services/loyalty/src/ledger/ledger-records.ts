/**
 * The ledger as `scrip ledger export` writes it and `scrip ledger verify` reads it: each card, followed by its entries in the
 * order of their versions. Points are decimal numbers in strings, hashes hexadecimal.
 */
export type LedgerRecord =
  | ({ readonly record: "card" } & CardRecord)
  | ({ readonly record: "entry" } & EntryRecord);

export type CardRecord = {
  readonly project_id: string;
  readonly id: string;
  readonly points: string;
  readonly redeemed_points: string;
  readonly subtracted_points: string;
  readonly expired_points: string;
  readonly balance: string;
  readonly pending_points: string;
  /** The sum of the card's pending entries. */
  readonly pending_entries: string;
  readonly ledger_version: string;
  readonly ledger_hash: string | null;
  readonly next_expires_on: string | null;
  readonly next_expiring_points: string;
  /** Points of the lots that have not expired, by date. */
  readonly lots: Readonly<Record<string, string>>;
};

export type EntryRecord = {
  readonly project_id: string;
  readonly card_id: string;
  readonly version: string;
  readonly id: string;
  readonly type: string;
  readonly points: string;
  readonly balance_after: string;
  readonly total_after: string | null;
  readonly cause: string;
  readonly redemption_id: string | null;
  readonly rollback_id: string | null;
  readonly reward_id: string | null;
  readonly campaign_id: string | null;
  /** ISO 8601 with milliseconds, UTC. */
  readonly created_at: string;
  readonly lots: Readonly<Record<string, number>> | null;
  readonly source: string | null;
  readonly source_id: string | null;
  readonly reason: string | null;
  readonly related_id: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly previous_hash: string | null;
  readonly hash: string | null;
};
