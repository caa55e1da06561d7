import { ConfigError, type Env, readEnv, variable } from "@scrip/config";

/** How long rows are retained that only repetitions and replays need, in milliseconds. */
export type Retention = {
  /** Stored responses to idempotency keys; they are dropped by the day. */
  readonly idempotencyMs: number;
  /** Events that all consumers have handled. */
  readonly eventMs: number;
  /** Ids of handled events; longer than an unhandled event is retained. */
  readonly inboxMs: number;
  /** Entries of the audit log; they are dropped by the month. */
  readonly auditMs: number;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_RETENTION: Retention = {
  idempotencyMs: 48 * HOUR_MS,
  eventMs: 72 * HOUR_MS,
  inboxMs: 15 * DAY_MS,
  auditMs: 365 * DAY_MS,
};

/** An event that waits for a consumer is dropped this long before its id in the inbox. */
const INBOX_MARGIN_MS = DAY_MS;

/** How long the event log retains events, handled and not. */
export const eventRetention = (retention: Retention) => ({
  keepMs: retention.eventMs,
  keepUnhandledMs: retention.inboxMs - INBOX_MARGIN_MS,
});

/** Events take most of what a redemption writes, so handled ones are retained for less in the outboxes. */
const OUTBOX_MS = 6 * HOUR_MS;

/** How long a service retains its own events, which consumers read in its outbox. */
export const outboxRetention = (retention: Retention) => ({
  ...eventRetention(retention),
  keepMs: Math.min(retention.eventMs, OUTBOX_MS),
});

/** Reads the retentions from the environment; all services of an installation must have the same. */
export function readRetention(env: Env): Retention {
  const retention = readEnv(env, {
    idempotencyMs: duration("SCRIP_IDEMPOTENCY_RETENTION", DEFAULT_RETENTION.idempotencyMs),
    eventMs: duration("SCRIP_EVENT_RETENTION", DEFAULT_RETENTION.eventMs),
    inboxMs: duration("SCRIP_INBOX_RETENTION", DEFAULT_RETENTION.inboxMs),
    auditMs: duration("SCRIP_AUDIT_RETENTION", DEFAULT_RETENTION.auditMs),
  });
  if (retention.idempotencyMs < HOUR_MS) {
    throw new ConfigError("SCRIP_IDEMPOTENCY_RETENTION must be at least 1h");
  }
  if (retention.auditMs < DAY_MS)
    throw new ConfigError("SCRIP_AUDIT_RETENTION must be at least 1d");
  if (
    retention.eventMs < HOUR_MS ||
    retention.eventMs > eventRetention(retention).keepUnhandledMs
  ) {
    throw new ConfigError(
      "SCRIP_EVENT_RETENTION must be at least 1h, and a day less than SCRIP_INBOX_RETENTION",
    );
  }
  return retention;
}

const duration = (name: string, fallback: number) => ({
  name,
  reader: variable.withDefault(variable.duration, fallback),
});
