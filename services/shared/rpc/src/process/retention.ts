import { ConfigError, type Env, readEnv, readTogether, variable } from "@scrip/config";

/** How long rows are retained that do not belong to the ledger, in milliseconds. */
export type Retention = {
  /** Stored responses to idempotency keys; they are dropped by the day. */
  readonly idempotencyMs: number;
  /** Events that all consumers have handled. */
  readonly eventMs: number;
  /** Ids of handled events; longer than an unhandled event is retained. */
  readonly inboxMs: number;
  /** Entries of the audit log; they are dropped by the month. */
  readonly auditMs: number;
  /** Failed redemptions and rollbacks. */
  readonly failedRedemptionMs: number;
  /** Activities of customers; they are dropped by the week. */
  readonly activityMs: number;
  /** Deliveries of webhooks. */
  readonly deliveryMs: number;
  /** Files of exports. */
  readonly exportFileMs: number;
  /** Explanations of redemptions; undefined: as long as their redemption. */
  readonly explanationMs: number | undefined;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_RETENTION: Retention = {
  idempotencyMs: 48 * HOUR_MS,
  eventMs: 72 * HOUR_MS,
  inboxMs: 15 * DAY_MS,
  auditMs: 365 * DAY_MS,
  failedRedemptionMs: 400 * DAY_MS,
  activityMs: 90 * DAY_MS,
  deliveryMs: 30 * DAY_MS,
  exportFileMs: 7 * DAY_MS,
  explanationMs: undefined,
};

/** An event that waits for a consumer is dropped this long before its id in the inbox. */
const INBOX_MARGIN_MS = DAY_MS;

/** How long the event log retains events, handled and not. */
export const eventRetention = (retention: Pick<Retention, "eventMs" | "inboxMs">) => ({
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

/** A stored response is dropped up to a day after it expired, and refers to its redemptions until then. */
const RESPONSE_MARGIN_MS = 2 * DAY_MS;

/** A delivery is repeated for 58 hours, and must not be deleted before it has failed for good. */
const LEAST_DELIVERY_MS = 4 * DAY_MS;

/** Reads the retentions from the environment; all services of an installation must have the same. */
export function readRetention(env: Env): Retention {
  const [responses, events, others] = readTogether(
    () => readResponses(env),
    () => readEvents(env),
    () =>
      readEnv(env, {
        auditMs: duration("SCRIP_AUDIT_RETENTION", DEFAULT_RETENTION.auditMs),
        activityMs: duration("SCRIP_ACTIVITY_RETENTION", DEFAULT_RETENTION.activityMs),
        deliveryMs: duration(
          "SCRIP_WEBHOOK_DELIVERY_RETENTION",
          DEFAULT_RETENTION.deliveryMs,
          LEAST_DELIVERY_MS,
        ),
        exportFileMs: duration(
          "SCRIP_EXPORT_FILE_RETENTION",
          DEFAULT_RETENTION.exportFileMs,
          HOUR_MS,
        ),
        explanationMs: {
          name: "SCRIP_EXPLANATION_RETENTION",
          reader: variable.optional(atLeast(DAY_MS)),
        },
      }),
  );
  if (responses.failedRedemptionMs < events.inboxMs) {
    // The webhook of an event that was delayed contains the failed redemption.
    throw new ConfigError(
      "SCRIP_FAILED_REDEMPTION_RETENTION must be at least as long as SCRIP_INBOX_RETENTION",
    );
  }
  return { ...responses, ...events, ...others };
}

function readResponses(env: Env): Pick<Retention, "idempotencyMs" | "failedRedemptionMs"> {
  const responses = readEnv(env, {
    idempotencyMs: duration(
      "SCRIP_IDEMPOTENCY_RETENTION",
      DEFAULT_RETENTION.idempotencyMs,
      HOUR_MS,
    ),
    failedRedemptionMs: duration(
      "SCRIP_FAILED_REDEMPTION_RETENTION",
      DEFAULT_RETENTION.failedRedemptionMs,
    ),
  });
  if (responses.failedRedemptionMs < responses.idempotencyMs + RESPONSE_MARGIN_MS) {
    throw new ConfigError(
      "SCRIP_FAILED_REDEMPTION_RETENTION must be at least two days more than SCRIP_IDEMPOTENCY_RETENTION",
    );
  }
  return responses;
}

function readEvents(env: Env): Pick<Retention, "eventMs" | "inboxMs"> {
  const events = readEnv(env, {
    eventMs: duration("SCRIP_EVENT_RETENTION", DEFAULT_RETENTION.eventMs, HOUR_MS),
    inboxMs: duration("SCRIP_INBOX_RETENTION", DEFAULT_RETENTION.inboxMs),
  });
  if (events.eventMs > eventRetention(events).keepUnhandledMs) {
    throw new ConfigError(
      "SCRIP_EVENT_RETENTION must be a day less than SCRIP_INBOX_RETENTION, or shorter",
    );
  }
  return events;
}

const duration = (name: string, fallback: number, leastMs = DAY_MS) => ({
  name,
  reader: variable.withDefault(atLeast(leastMs), fallback),
});

const atLeast = (leastMs: number): typeof variable.duration => ({
  expected: `${variable.duration.expected}, at least ${leastMs / HOUR_MS}h`,
  read(text) {
    const ms = variable.duration.read(text);
    return ms !== undefined && ms >= leastMs ? ms : undefined;
  },
});
