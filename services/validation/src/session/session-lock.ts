import { invalidPayload, ApiError } from "@scrip/errors";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { claimSession, findSessionClaim, releaseSession } from "../store/session-claims.ts";

/** A session as it is locked and told: with its key, and its end in epoch milliseconds. */
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
/** Ten years: what is held for longer is not a lock any more. */
const LONGEST_MS = 3_653n * 86_400_000n;

/**
 * The lock that a request asks for (spec/validation-and-redemption.md §7.1): 7 days unless a `ttl` is
 * sent, which counts in days unless a unit is. Parts of a millisecond count as a whole one.
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
  if (perUnit === undefined) throw new Error(`the unit ${ttlUnit} passed the door`);
  const ms = (ttl * perUnit + NANOSECONDS_PER_MS - 1n) / NANOSECONDS_PER_MS;
  if (ms > LONGEST_MS) throw invalidPayload("Property .session.ttl cannot be longer than 10 years");
  const key = session.key === undefined || session.key === "" ? newId("ssn") : session.key;
  return { session: { ...session, key, ttl, ttlUnit }, expiresAt: call.now + Number(ms) };
}

export type SessionClaim = { readonly release: () => Promise<void> };

/**
 * Takes the vouchers of a session for this redemption alone
 * (spec/validation-and-redemption.md §7.7).
 */
export async function claimSessionVouchers(
  deps: Pick<Deps, "db">,
  call: Call,
  session: { readonly sessionKey: string; readonly voucherIds: readonly string[] },
): Promise<SessionClaim> {
  const by = call.idempotency?.key ?? call.requestId;
  const claim = { projectId: call.project.id, by, ...session };
  const other = await claimSession(deps.db, claim);
  if (other !== undefined) {
    throw other.by === call.idempotency?.key
      ? new ApiError("idempotency_in_progress")
      : multipleRequests(session.sessionKey);
  }
  return { release: () => releaseSession(deps.db, claim) };
}

/** A validation claims nothing, but it gives way to a redemption with its key. */
export async function rejectWhileClaimed(
  deps: Pick<Deps, "db">,
  call: Call,
  session: { readonly sessionKey: string; readonly voucherIds: readonly string[] },
): Promise<void> {
  const other = await findSessionClaim(deps.db, { projectId: call.project.id, ...session });
  if (other !== undefined) throw multipleRequests(session.sessionKey);
}

const multipleRequests = (key: string): ApiError =>
  new ApiError("multiple_requests", { details: `Session ${key} takes part in another request` });
