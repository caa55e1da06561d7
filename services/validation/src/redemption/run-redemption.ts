import { ApiError } from "@scrip/errors";
import type { Order, OrderInput, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type {
  CommitOutcome,
  RedemptionCommand,
  StaleDecision,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import { overridingLines } from "../catalogue/catalogue-overrides.ts";
import { commitWithRetry, hasTimeLeft, pauseBeforeRetry } from "../commit/commit-retry.ts";
import { runPostCommit } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { checkRedeemables } from "../domain/decide.ts";
import { redeemableKey } from "../domain/input/redeemable.ts";
import {
  refreshed,
  type CommitConflict,
  addConflicts,
  NO_CONFLICTS,
  withConflicts,
} from "../domain/redemption/commit-conflicts.ts";
import { addCatalogueData } from "../loading/catalogue.ts";
import { loadCustomer, requireIdentities } from "../loading/customer.ts";
import { loadDecisionContext } from "../loading/decision-context.ts";
import { loadDisplayedAssignments } from "../loading/displayed-assignments.ts";
import { loadOrderWithCatalogueData } from "../loading/order.ts";
import { resolveRedeemables } from "../loading/resolved-redeemables.ts";
import { loadStackingRules } from "../loading/stacking-rules.ts";
import type {
  ResolvedRedeemables,
  RequestContext,
  DecisionContext,
} from "../mapping/decision-context.ts";
import { type DecisionInput, customerOf } from "../mapping/decision-input.ts";
import { rejectionFromProto, rejectionToApiError } from "../mapping/error.ts";
import { orderKey } from "../mapping/order.ts";
import { replayDataToBytes, buildReplayData } from "../mapping/replay-data.ts";
import { trackingIdOf } from "../mapping/tracking-id.ts";
import { type CommitState, type OrderClaim, claimRequestedOrder } from "../order/order-claim.ts";
import { type SessionClaim, claimSessionObjects } from "../session/session-claim.ts";
import { type Decided, decide, applicableOf } from "../validation/decide.ts";
import type { ValidationOptions } from "../validation/run-validation.ts";
import { commitWithPointsHeld } from "./commit-with-points-held.ts";
import { rejectionOfDecision } from "./decision-rejection.ts";
import {
  finishRedemption,
  type CommittedDecision,
  type FinishedRedemption,
} from "./finish-redemption.ts";
import { buildRedemptionCommand, buildRejectionCommand } from "./redemption-command.ts";
import { customerUpsert, type CustomerUpsert } from "./upsert-customer.ts";

/**
 * Redeems exactly once: loads, decides as a validation does, and commits the decision under its
 * guards. A rejection is recorded as a failed redemption before it is thrown
 * (docs/redemption-and-rollback.md#failed-redemptions).
 */
export const runRedemption = (
  deps: Deps,
  call: Call,
  sent: DecisionInput,
  options: ValidationOptions = {},
): Promise<FinishedRedemption> =>
  deps.countRedemption(call, (counted) => redeem(deps, counted, sent, options));

async function redeem(
  deps: Deps,
  call: Call,
  sent: DecisionInput,
  options: ValidationOptions,
): Promise<FinishedRedemption> {
  requireIdentities(sent);
  const requestedCustomer = customerOf(sent);
  const overrides = overridingLines(call, sent.order?.items);
  const sentLines = addCatalogueData(deps, call, sent.order?.items ?? []);
  // Awaited with the order; until then, an earlier error may end the request.
  sentLines.catch(() => {});
  const [settings, resolved, findCustomer] = await Promise.all([
    loadStackingRules(deps, call),
    resolveRedeemables(deps, call, sent, { tierSummaries: true }),
    deferRejection(loadCustomer(deps, call, requestedCustomer)),
  ]);
  if (resolved.storedOutcome !== undefined)
    return finishRedemption(deps, call, { outcome: resolved.storedOutcome }, overrides);
  const stacking = options.stacking?.(settings) ?? settings;
  const malformed = checkRedeemables(sent.redeemables, stacking);
  if (malformed !== null) throw rejectionToApiError(malformed);
  const customer = findCustomer();
  options.check?.(resolved);
  const tracking = trackingIdOf(deps.trackingSecret, call.project.id, {
    trackingId: sent.trackingId,
    sourceId: customer?.sourceId ?? requestedCustomer?.sourceId,
  });

  // Before the order: a second request of a session is rejected, other requests with the order wait.
  const sessionClaim = await claimSession(deps, call, sent, resolved);
  const orderClaiming = createOrderClaiming(deps, call);
  const commit = createCommit(deps, call, overrides);
  try {
    const sources = { find: orderClaiming.claim, sentLines };
    const order = await loadOrderWithCatalogueData(deps, call, sent.order, sources);
    const { stored: storedOrder, lines } = order;
    const loaded = {
      input: { ...sent, order: order.sent },
      requestedCustomer,
      customer,
      storedOrder,
      lines,
      stacking,
      trace: true,
      storesOrder: true,
    };
    const orderClaim = orderClaiming.claimed();
    const changing = orderClaim === undefined ? call : { ...call, now: orderClaim.now };
    const upsertCustomer = customerUpsert(deps, changing, { requestedCustomer, stored: customer });
    const committed = await decideAndCommit(
      { deps, call: changing, order: orderClaim, tracking, upsertCustomer, commit: commit.run },
      loaded,
      resolved,
    );
    return await finishRedemption(deps, changing, committed, overrides);
  } finally {
    const claims = [orderClaiming.end(commit.state()), sessionClaim?.release()];
    await runPostCommit(deps, "releasing the claims of a redemption", ...claims);
  }
}

/** Claims the order of the request, and ends the claim with the request. */
function createOrderClaiming(
  deps: Deps,
  call: Call,
): {
  readonly claim: (input: OrderInput) => Promise<Order | null>;
  readonly claimed: () => OrderClaim | undefined;
  readonly end: (state: CommitState) => Promise<void> | undefined;
} {
  let claiming: Promise<OrderClaim> | undefined;
  let claimed: OrderClaim | undefined;
  return {
    claim: async (input) => {
      claiming = claimRequestedOrder(deps, call, input);
      claimed = await claiming;
      return claimed.stored;
    },
    claimed: () => claimed,
    end(state) {
      const ended = claiming?.then(
        ({ end }) => end(state),
        () => {},
      );
      if (claimed !== undefined) return ended;
      // A request that fails while it waits for its order does not wait any longer.
      ended?.catch(deps.onError);
      return undefined;
    },
  };
}

/** Commits commands, and tracks whether one has succeeded. */
function createCommit(
  deps: Deps,
  call: Call,
  overrides: readonly OrderItemInput[],
): { readonly run: Commit; readonly state: () => CommitState } {
  let state: CommitState = "none";
  return {
    state: () => state,
    run: async (command) => {
      state = "unknown";
      const full = overrides.length === 0 ? command : { ...command, overrides: [...overrides] };
      const outcome = await commitWithRetry(() => deps.clients.commitRedemption(full, call));
      state = isNewlyCommitted(outcome) ? "committed" : "none";
      return outcome;
    },
  };
}

/** Committed by this request, not replayed from an earlier one with the same idempotency key. */
const isNewlyCommitted = ({ outcome, replayed }: CommitOutcome): boolean =>
  outcome.case === "committed" && !replayed;

/** Delays a rejection until its result is used: a replayed request returns its stored outcome even if its customer was deleted. */
const deferRejection = <Value>(work: Promise<Value>): Promise<() => Value> =>
  work.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );

type Request = {
  readonly deps: Deps;
  readonly call: Call;
  readonly order: OrderClaim | undefined;
  readonly tracking: string | undefined;
  readonly upsertCustomer: CustomerUpsert;
  readonly commit: Commit;
};

type Commit = (command: RedemptionCommand) => Promise<CommitOutcome>;

/** Decides and commits until the commit accepts the decision, or the deadline leaves no time to retry. */
async function decideAndCommit(
  request: Request,
  requestContext: RequestContext,
  first: ResolvedRedeemables,
): Promise<CommittedDecision> {
  const { deps, call } = request;
  let loaded = await loadDecisionContext(deps, call, requestContext, first);
  let conflicts = NO_CONFLICTS;
  for (let attempt = 0; ; attempt += 1) {
    const context = { ...loaded, request: withConflicts(loaded.request, conflicts) };
    const decision = await decide(context, call);
    const committed = await commitDecision(request, context, decision);
    const { outcome } = committed.outcome;
    if (outcome.case !== "stale") return committed;
    const newConflicts = conflictsOf(outcome.value, decision);
    conflicts = addConflicts(conflicts, newConflicts);
    // The commit reported all conflicts, so the next decision can go without them immediately.
    if (newConflicts.length > 0 && hasTimeLeft(call.deadline)) continue;
    if (!(await pauseBeforeRetry(attempt, call.deadline))) break;
    const resolved = await resolveRedeemables(deps, call, requestContext.input, {
      tierSummaries: true,
    });
    // A customer who was unknown has been stored for the commit: others may have redeemed for them since.
    const customer =
      requestContext.customer ?? (decision.valid ? await request.upsertCustomer() : undefined);
    loaded = await loadDecisionContext(deps, call, { ...requestContext, customer }, resolved);
    conflicts = refreshed(conflicts);
  }
  const names = requestContext.input.redeemables.map(({ id }) => id).join(", ");
  throw new ApiError("service_unavailable", {
    details: `Redeemables are being changed concurrently (${names}); try again`,
  });
}

function conflictsOf({ conflicts }: StaleDecision, decision: Decided): readonly CommitConflict[] {
  const applicable = applicableOf(decision);
  return conflicts.flatMap(({ part, error, remainingCredits = null }) => {
    const redeemable = applicable[part]?.redeemable;
    const rejection = error && rejectionFromProto(error);
    if (redeemable === undefined || rejection === undefined) return [];
    return { redeemableKey: redeemableKey(redeemable), rejection, remainingCredits };
  });
}

/** Commits the decision: redeems, or records a failed redemption. */
async function commitDecision(
  request: Request,
  context: DecisionContext,
  decision: Decided,
): Promise<CommittedDecision> {
  const { deps, call, upsertCustomer, commit } = request;
  if (!decision.valid) {
    const { rejection, recordedOn } = rejectionOfDecision(decision, context);
    if (recordedOn === undefined) throw rejectionToApiError(rejection);
    const commandSource = { ...request, context };
    return { outcome: await commit(buildRejectionCommand(commandSource, recordedOn, rejection)) };
  }
  const [customer, assignments] = await Promise.all([
    upsertCustomer(),
    loadDisplayedAssignments(deps, call, decision.redeemables),
  ]);
  const replayData = buildReplayData(decision.redeemables, { context, assignments }, call);
  const result = { customer, replayData: replayDataToBytes(replayData, call) };
  const outcome = await commitWithPointsHeld(deps, call, { decision, context }, (points) =>
    commit(buildRedemptionCommand({ ...request, context, points }, decision, result)),
  );
  return { outcome, replayData };
}

/** Claims the vouchers and the order of a request with a session. */
async function claimSession(
  deps: Deps,
  call: Call,
  { session, order }: DecisionInput,
  { vouchers }: ResolvedRedeemables,
): Promise<SessionClaim | undefined> {
  if (session?.key === undefined) return undefined;
  const voucherIds = [...vouchers.values()].flatMap(({ voucher }) => voucher?.id ?? []);
  const named = order && orderKey(order);
  const orderId = named === undefined ? [] : [`${named.column} ${named.value}`];
  if (voucherIds.length + orderId.length === 0) return undefined;
  return claimSessionObjects(deps, call, {
    sessionKey: session.key,
    objectIds: [...voucherIds, ...orderId],
  });
}
