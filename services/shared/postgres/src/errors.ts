import { DatabaseError } from "pg";

const UNIQUE_VIOLATION = "23505";
const FOREIGN_KEY_VIOLATION = "23503";

/** Failures that a retry of the whole transaction may resolve: conflicts and lost connections. */
const RETRYABLE = [
  /^40001$/, // serialization_failure
  /^40P01$/, // deadlock_detected
  /^08/, // connection exceptions
  /^57P/, // the server is going down, coming up, or ended the session
];

/**
 * The schema of the service does not exist, for example while a backup is restored. Statements find tables through the
 * search path, so that each fails with the second code.
 */
const MISSING_SCHEMA = [/^3F000$/, /^42P01$/];

/** The database is unreachable, is not set up, or does not respond within its limits. */
const UNAVAILABLE = [
  /^08/, // connection exceptions
  /^53/, // insufficient resources: too many connections, disk full, out of memory
  /^57P/, // the server is going down, coming up, or ended the session
  /^57014$/, // statement_timeout
  /^55P03$/, // lock_timeout
  /^25P0[34]$/, // idle_in_transaction_session_timeout, transaction_timeout
  /^25006$/, // a standby that does not take writes yet, in the middle of a failover
  /^28/, // the role may not connect, for example while its password is changed
  /^3D000$/, // the database does not exist
  ...MISSING_SCHEMA,
];

/** System errors of a connection whose other end is closed or unreachable. */
const NETWORK_FAILURES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** The driver gives these failures no code; only their text identifies them. */
const LOST_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|Client was closed)/;
const DRIVER_TIMEOUT =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end)/;

/** A read on a standby that its recovery has cancelled. */
export class StandbyConflict extends Error {
  constructor(cause: unknown) {
    super("The standby has cancelled a read that conflicts with its recovery", { cause });
    this.name = "StandbyConflict";
  }
}

/** A process holds as many snapshots as it may. */
export class TooManySnapshots extends Error {
  constructor(held: number) {
    super(
      `This process holds ${held} snapshots, which is the limit: try again when one of their readers has ended`,
    );
    this.name = "TooManySnapshots";
  }
}

/** A snapshot that is closed. */
export class SnapshotUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SnapshotUnavailable";
  }
}

/** The SQLSTATE of a Postgres error; undefined for other failures. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** The statement ran for longer than `statement_timeout`. */
export const isStatementTimeout = (error: unknown): boolean => sqlState(error) === "57014";

/** Another transaction held a lock for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === "55P03";

export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  violates(error, UNIQUE_VIOLATION, constraint);

/** A deleted or changed row is still referenced, or the referenced row does not exist. */
export const isForeignKeyViolation = (error: unknown, constraint: string): boolean =>
  violates(error, FOREIGN_KEY_VIOLATION, constraint);

const violates = (error: unknown, code: string, constraint: string): boolean =>
  error instanceof DatabaseError && error.code === code && error.constraint === constraint;

/**
 * Whether a retry of the whole transaction may succeed. After a lost connection, the outcome of the
 * commit is unknown: only work that detects its own repetition may be retried.
 */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return RETRYABLE.some((pattern) => pattern.test(state));
  return isConnectionLost(error);
}

/** Whether the database is unreachable, is not set up or does not respond in time: the caller may retry later. */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return UNAVAILABLE.some((pattern) => pattern.test(state));
  if (error instanceof StandbyConflict || error instanceof SnapshotUnavailable) return true;
  return isConnectionLost(error) || (error instanceof Error && DRIVER_TIMEOUT.test(error.message));
}

/** A connection that failed in this way must not return to the pool. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return (
    (typeof code === "string" && NETWORK_FAILURES.has(code)) || LOST_CONNECTION.test(error.message)
  );
}

/** Failures that the operator of the database must resolve: role, password, database name. */
const CONFIGURATION_ERRORS = [
  /^28/, // the role or its password
  /^3D000$/, // the database does not exist
  /^42501$/, // the role may not do it
];

/** Why the database cannot be used, as a message for the terminal; undefined for other failures. */
export function explainConnectionFailure(error: unknown): string | undefined {
  const state = sqlState(error);
  const has = (codes: readonly RegExp[]): boolean =>
    state !== undefined && codes.some((each) => each.test(state));
  const isKnown = (isUnavailable(error) && !has(MISSING_SCHEMA)) || has(CONFIGURATION_ERRORS);
  if (!isKnown || !(error instanceof Error)) return undefined;
  // A host with several addresses fails with one error per address, and no text of its own.
  const [first] = error instanceof AggregateError ? (error.errors as readonly Error[]) : [];
  const reason = error.message || first?.message || "no response";
  return `The database cannot be used: ${reason}. Check DATABASE_URL.`;
}

export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));
