import { timestampMs } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import { notFound, ApiError } from "@scrip/errors";
import { isLockTimeout } from "@scrip/postgres";
import type { Order, OrderInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import { pauseBeforeRetry } from "../commit/commit-retry.ts";
import { releaseClaim } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { orderKey } from "../mapping/order.ts";
import {
  abandonOrder,
  CLAIM_SECONDS,
  claimOrder,
  type ClaimOutcome,
  type OrderClaimRequest,
  releaseOrder,
} from "../store/order-claims.ts";
import type { OrderKey } from "../store/orders.ts";
import type { OrderQueue } from "./order-queue.ts";

/** Exclusive access to an order for one request. */
export type OrderClaim = {
  readonly id: string;
  readonly stored: Order | null;
  /**
   * The time of the change in epoch milliseconds: that of the request, or right after the last change of
   * the order. Requests that waited would otherwise store a state that looks older than its predecessor.
   */
  readonly now: number;
  /**
   * Lets the next request proceed; called once, when this request ends. Releases the order if nothing was
   * committed, and soon if that is unknown: until then, the event of the redemption can store the order. If the
   * request committed, storing the order ends the claim.
   */
  readonly end: (request: CommitState) => Promise<void>;
};

/** Whether a request has committed; unknown when the response of the commit was lost. */
export type CommitState = "none" | "committed" | "unknown";

type ClaimDeps = Pick<Deps, "awaitOrder" | "db" | "newId" | "orderQueue" | "processId">;

/** Time reserved for the request itself. */
const RESERVE_MS = 1_500;

/** Pauses stop growing early: the next turn is reserved for this process. */
const MAX_PAUSE_ATTEMPT = 2;

/**
 * Claims the order that the request references, or allocates the id of a new one. Waits while other
 * requests use the order (services/decisions/0028-requests-wait-for-their-order.md).
 */
export const claimRequestedOrder = (
  deps: ClaimDeps,
  call: Call,
  input: OrderInput,
): Promise<OrderClaim> => claimOrAllocate(deps, call, input, waitForClaim);

/** As `claimRequestedOrder`, for an edit that has entered the queue (queued-edits.ts). */
export const claimEditedOrder = (
  deps: ClaimDeps,
  call: Call,
  input: OrderInput,
): Promise<OrderClaim> =>
  claimOrAllocate(deps, call, input, (...args) => claimOnceFree(...args, claimOrUnlock));

async function claimOrAllocate(
  deps: ClaimDeps,
  call: Call,
  input: OrderInput,
  claim: typeof waitForClaim,
): Promise<OrderClaim> {
  const key = orderKey(input);
  if (key === undefined) {
    return { id: deps.newId("ord"), stored: null, now: call.now, end: async () => {} };
  }
  const orderClaim = await claim(deps, call, key);
  if (orderClaim === undefined) throw notFound("order", key.value);
  return orderClaim;
}

/**
 * Claims the order of a known redemption, and waits while other requests use it. Undefined if the
 * redemption's process died before storing the order.
 */
export const claimStoredOrder = (
  deps: ClaimDeps,
  call: Call,
  id: string,
): Promise<OrderClaim | undefined> => waitForClaim(deps, call, { column: "id", value: id });

async function waitForClaim(
  deps: ClaimDeps,
  call: Call,
  key: OrderKey,
): Promise<OrderClaim | undefined> {
  const leave = await enterQueue(deps.orderQueue, call, key, call.idempotency?.key);
  let claim: OrderClaim | undefined;
  try {
    claim = await claimOnceFree(deps, call, key);
  } finally {
    if (claim === undefined) leave();
  }
  if (claim === undefined) return undefined;
  const { end } = claim;
  return { ...claim, end: (request) => end(request).finally(leave) };
}

/** Waits for the turn of this request; returns the function that ends it. */
export async function enterQueue(
  queue: OrderQueue,
  call: Call,
  key: OrderKey,
  idempotencyKey: string | undefined,
): Promise<() => void> {
  const name = `${call.project.id} ${key.column} ${key.value}`;
  const entry = await queue.enter(name, { idempotencyKey, until: waitUntil(queue, call) });
  if (entry.kind === "repeated") throw new ApiError("idempotency_in_progress");
  if (entry.kind === "busy") throw multipleRequests(key);
  return entry.leave;
}

const waitUntil = ({ maxWaitMs }: OrderQueue, { deadline }: Call): number =>
  Math.min(deadline - RESERVE_MS, currentTime() + maxWaitMs);

/**
 * Claims the order once it is free: other processes may hold it, or requests of this process that name it by its other
 * id.
 */
async function claimOnceFree(
  deps: ClaimDeps,
  call: Call,
  key: OrderKey,
  claimOnce: ClaimOnce = claimOrder,
): Promise<OrderClaim | undefined> {
  const { db, newId, orderQueue, processId } = deps;
  const projectId = call.project.id;
  const by = call.idempotency?.key ?? call.requestId;
  const until = waitUntil(orderQueue, call);
  const at = new Date(call.now);
  // With the transaction of its key, after which its connection serves others.
  const isUndone = claimOnce === claimOrUnlock && call.idempotency !== undefined;
  for (let attempt = 0; ; attempt += 1) {
    const expiresAt = currentTime() + CLAIM_SECONDS * 1_000;
    const claim = await tryToClaim(deps, claimOnce, {
      projectId,
      key,
      by,
      process: processId,
      newId: newId("ord"),
      at,
    });
    switch (claim.kind) {
      case "claimed":
        return {
          id: claim.id,
          stored: claim.order,
          now: changeTime(call.now, claim.order),
          end: async (state) => {
            if (state === "committed") return;
            const claimed = { projectId, id: claim.id, by, until: claim.until };
            const release = state === "none" ? releaseOrder : abandonOrder;
            if (isUndone) await release(db, claimed);
            else await releaseClaim(() => release(db, claimed), expiresAt);
          },
        };
      case "not_found":
        return undefined;
      case "taken":
        if (claim.by === call.idempotency?.key) throw new ApiError("idempotency_in_progress");
        if (!(await pauseBeforeRetry(Math.min(attempt, MAX_PAUSE_ATTEMPT), until))) {
          throw multipleRequests(key);
        }
        break;
      default:
        return claim satisfies never;
    }
  }
}

/** The transaction of an idempotency key locks the order until it ends. */
async function tryToClaim(
  { db, awaitOrder }: Pick<Deps, "awaitOrder" | "db">,
  claimOnce: ClaimOnce,
  request: OrderClaimRequest,
): Promise<ClaimOutcome> {
  try {
    const claim = await claimOnce(db, request);
    if (claim.kind === "taken" && claim.by !== request.by) await awaitOrder(request);
    return claim;
  } catch (error) {
    if (isLockTimeout(error)) return { kind: "taken", by: "" };
    throw error;
  }
}

type ClaimOnce = (db: Deps["db"], request: OrderClaimRequest) => Promise<ClaimOutcome>;

/**
 * Claims the order in a transaction of its own, which is a savepoint in that of a key. An update that waits for a
 * row and then does not change it has locked it: the holder of the claim could not save the order until the
 * transaction of the key ends.
 */
async function claimOrUnlock(db: Deps["db"], request: OrderClaimRequest): Promise<ClaimOutcome> {
  let outcome: ClaimOutcome | undefined;
  try {
    return await db.transaction(async (tx) => {
      outcome = await claimOrder(tx, request);
      if (outcome.kind !== "claimed") throw NOT_CLAIMED;
      return outcome;
    });
  } catch (error) {
    if (error === NOT_CLAIMED && outcome !== undefined) return outcome;
    throw error;
  }
}

const NOT_CLAIMED = new Error("the order is not claimed");

/** A larger difference is no wait: the clock of a sandbox project was moved back. */
function changeTime(now: number, stored: Order | null): number {
  const changedAt = stored?.updatedAt ?? stored?.createdAt;
  if (changedAt === undefined) return now;
  const next = timestampMs(changedAt) + 1;
  return next - now > CLAIM_SECONDS * 1_000 ? now : Math.max(now, next);
}

const multipleRequests = ({ value }: OrderKey): ApiError =>
  new ApiError("multiple_requests", { details: `Order ${value} takes part in other requests` });
