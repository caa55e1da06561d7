import { invalidPayload } from "@scrip/errors";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** A session with its key and its expiry in epoch milliseconds. */
export type SessionLock = {
  readonly session: Session & { readonly key: string };
  readonly expiresAt: number;
};

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  DAYS: 86_400_000_000_000n,
  HOURS: 3_600_000_000_000n,
  MINUTES: 60_000_000_000n,
  SECONDS: 1_000_000_000n,
  MILLISECONDS: 1_000_000n,
  MICROSECONDS: 1_000n,
  NANOSECONDS: 1n,
};

const NANOSECONDS_PER_MS = 1_000_000n;

const DEFAULT_DAYS = 7n;

/** Ten years, the longest lock. */
const LONGEST_MS = 3_653n * 86_400_000n;

/**
 * The session lock of a request (docs/sessions.md#lifetime): 7 days by default; a `ttl` without a
 * unit counts days. Rounded up to whole milliseconds.
 */
export function parseSessionLock(
  { newId }: Pick<Deps, "newId">,
  call: Call,
  session: Session | undefined,
): SessionLock | undefined {
  if (session === undefined) return undefined;
  const ttl = session.ttl ?? DEFAULT_DAYS;
  const ttlUnit = session.ttl === undefined ? "DAYS" : (session.ttlUnit ?? "DAYS");
  const perUnit = NANOSECONDS[ttlUnit];
  if (perUnit === undefined) throw new Error(`the unit ${ttlUnit} passed the request checks`);
  const ms = (ttl * perUnit + NANOSECONDS_PER_MS - 1n) / NANOSECONDS_PER_MS;
  if (ms > LONGEST_MS) throw invalidPayload("Property .session.ttl cannot be longer than 10 years");
  const key = session.key === undefined || session.key === "" ? newId("ssn") : session.key;
  return { session: { ...session, key, ttl, ttlUnit }, expiresAt: call.now + Number(ms) };
}
