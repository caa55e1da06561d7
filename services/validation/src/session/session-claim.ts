import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import { releaseClaim } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { CLAIM_SECONDS } from "../store/order-claims.ts";
import { claimSession, findSessionClaim, releaseSession } from "../store/session-claims.ts";

export type SessionClaim = { readonly release: () => Promise<void> };

/** Claims vouchers, and the order if it is named, under the key of a session for this redemption (docs/sessions.md#contention). */
export async function claimSessionObjects(
  deps: Pick<Deps, "db" | "processId">,
  call: Call,
  session: { readonly sessionKey: string; readonly objectIds: readonly string[] },
): Promise<SessionClaim> {
  const by = call.idempotency?.key ?? call.requestId;
  const claim = { projectId: call.project.id, by, process: deps.processId, ...session };
  const expiresAt = currentTime() + CLAIM_SECONDS * 1_000;
  const held = await claimSession(deps.db, claim);
  const release = async (): Promise<void> => {
    if (held !== undefined) await releaseClaim(() => releaseSession(deps.db, held), expiresAt);
  };
  const taken = session.objectIds.filter((id) => held?.objectIds.includes(id) !== true);
  if (taken.length === 0) return { release };
  try {
    const current = await findSessionClaim(deps.db, { ...claim, objectIds: taken });
    throw current !== undefined && current.by === call.idempotency?.key
      ? new ApiError("idempotency_in_progress")
      : multipleRequests(session.sessionKey);
  } finally {
    await release();
  }
}

/** Rejects a validation while a redemption with the same session key is in progress. */
export async function rejectWhileClaimed(
  deps: Pick<Deps, "db">,
  call: Call,
  session: { readonly sessionKey: string; readonly objectIds: readonly string[] },
): Promise<void> {
  const current = await findSessionClaim(deps.db, { projectId: call.project.id, ...session });
  if (current !== undefined) throw multipleRequests(session.sessionKey);
}

const multipleRequests = (key: string): ApiError =>
  new ApiError("multiple_requests", { details: `Session ${key} takes part in another request` });
