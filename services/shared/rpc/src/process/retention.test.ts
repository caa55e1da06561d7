import { expect, test } from "vitest";

import { DEFAULT_RETENTION, eventRetention, readRetention } from "./retention.ts";

const HOUR_MS = 3_600_000;

test("reads retentions, with the defaults of those that are absent", () => {
  expect(readRetention({})).toEqual(DEFAULT_RETENTION);
  expect(readRetention({ SCRIP_EVENT_RETENTION: "24h" })).toEqual({
    ...DEFAULT_RETENTION,
    eventMs: 24 * HOUR_MS,
  });
});

test("retains the ids of handled events longer than unhandled events", () => {
  const { keepMs, keepUnhandledMs } = eventRetention(DEFAULT_RETENTION);
  expect(keepMs).toBeLessThan(keepUnhandledMs);
  expect(keepUnhandledMs).toBeLessThan(DEFAULT_RETENTION.inboxMs);
  for (const env of [
    { SCRIP_EVENT_RETENTION: "15d" },
    { SCRIP_INBOX_RETENTION: "3d" },
    { SCRIP_EVENT_RETENTION: "59m" },
    { SCRIP_IDEMPOTENCY_RETENTION: "59m" },
    { SCRIP_AUDIT_RETENTION: "23h" },
    { SCRIP_EXPLANATION_RETENTION: "23h" },
    { SCRIP_ACTIVITY_RETENTION: "23h" },
    { SCRIP_WEBHOOK_DELIVERY_RETENTION: "95h" },
    { SCRIP_EXPORT_FILE_RETENTION: "59m" },
    { SCRIP_FAILED_REDEMPTION_RETENTION: "3d" },
  ]) {
    expect(() => readRetention(env)).toThrow(Object.keys(env)[0]);
  }
});

test("retains failed redemptions as long as a delayed event may need them", () => {
  const env = { SCRIP_FAILED_REDEMPTION_RETENTION: "15d" };
  expect(readRetention(env).failedRedemptionMs).toBe(DEFAULT_RETENTION.inboxMs);
  expect(() => readRetention({ SCRIP_FAILED_REDEMPTION_RETENTION: "14d" })).toThrow(
    "SCRIP_INBOX_RETENTION",
  );
  expect(() => readRetention({ SCRIP_INBOX_RETENTION: "401d" })).toThrow(
    "SCRIP_FAILED_REDEMPTION_RETENTION",
  );
});

test("reports all retentions that are out of range", () => {
  const env = {
    SCRIP_IDEMPOTENCY_RETENTION: "1m",
    SCRIP_INBOX_RETENTION: "1h",
    SCRIP_AUDIT_RETENTION: "1h",
  };
  for (const name of Object.keys(env)) expect(() => readRetention(env)).toThrow(name);
});
