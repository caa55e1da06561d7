/** A day of a project as `scrip audit` reads it. Days are dates (UTC), positions decimal numbers, hashes hexadecimal. */
export type DayRecord = {
  readonly day: string;
  readonly entries: string;
  readonly last_hash: string | null;
  readonly previous_day: string | null;
  readonly previous_position: string | null;
  readonly previous_hash: string | null;
};

/** An entry of the audit log. */
export type EntryRecord = {
  readonly project_id: string;
  readonly id: string;
  readonly action: string;
  readonly resource: string;
  readonly resource_id: string;
  readonly fields: readonly string[];
  readonly actor_type: string;
  readonly actor_id: string;
  readonly request_id: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly occurred_at: string;
  readonly position: string | null;
  readonly previous_hash: string | null;
  readonly hash: string | null;
};

/** The end of a chain, to be stored outside the database. */
export type ChainEnd = {
  readonly project_id: string;
  readonly day: string;
  readonly position: string;
  readonly hash: string;
};

/** What the audit log of an installation contains. */
export type AuditScope = {
  /** Earlier days have been dropped, or are not verified. */
  readonly oldestDay: string;
  /** Entries from this time on must be chained (ISO 8601, UTC); earlier ones may be from before the upgrade. */
  readonly chainedSince: string;
};

/** What is stored of a project, in one snapshot. */
export type ProjectRecords = {
  readonly projectId: string;
  readonly days: readonly DayRecord[];
  /** By day, then by position; those without a position are the last of their day. */
  readonly entries: AsyncIterable<EntryRecord>;
};
