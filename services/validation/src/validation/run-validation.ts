import { ApiError } from "@scrip/errors";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import { type Call, runInterleaved } from "@scrip/rpc";

import { pauseBeforeRetry } from "../commit/commit-retry.ts";
import type { Deps } from "../deps.ts";
import { checkRedeemables, type DecisionRequest, decideInSteps } from "../domain/decide.ts";
import type { Applicable, Decision } from "../domain/decision/decision.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import {
  type RequestContext,
  loadDecisionContext,
  type DecisionContext,
} from "../loading/decision-context.ts";
import { loadCustomer, loadOrder, trackingId } from "../loading/gather.ts";
import { loadOrderWithCatalogueData } from "../loading/order.ts";
import { resolveRedeemables, type ResolvedRedeemables } from "../loading/resolved-redeemables.ts";
import { loadStackingRules } from "../loading/stacking-rules.ts";
import { type DecisionInput, requestedCustomer, expandOf } from "../mapping/decision-input.ts";
import { toRefusal } from "../mapping/error.ts";
import { lockRedeemables } from "../session/lock-redeemables.ts";
import { parseSessionLock } from "../session/session-lock.ts";

export type Decided = Extract<Decision, { kind: "decided" }>;

/** A decision that was only asked for, with what its answer is written from. */
export type ValidationOutcome = {
  readonly gathered: DecisionContext;
  readonly decision: Decided;
  readonly tracking: string | undefined;
  /** When what was decided is locked. */
  readonly session: Session | undefined;
};

export type ValidationOptions = {
  /** Replaces rules of the project that make no sense where a single redeemable is asked for. */
  readonly stacking?: (rules: StackingRules) => StackingRules;
  /** Ends the request before anything is decided, such as for one that is not there. */
  readonly check?: (named: ResolvedRedeemables) => void;
};

/**
 * Decides, and locks what a session asks for (spec/validation-and-redemption.md §7). A lock that
 * somebody else was faster to take is a decision made again, which then tells why not.
 */
export async function runValidation(
  deps: Deps,
  call: Call,
  sent: DecisionInput,
  options: ValidationOptions = {},
): Promise<ValidationOutcome> {
  const hold = parseSessionLock(deps, call, sent.session);
  const asked = hold === undefined ? sent : { ...sent, session: hold.session };
  const settings = await loadStackingRules(deps, call);
  const stacking = options.stacking?.(settings) ?? settings;
  const malformed = checkRedeemables(asked.redeemables, stacking);
  if (malformed !== null) throw toRefusal(malformed);

  const [{ circumstances, tracking }, first] = await Promise.all([
    loadRequestContext(deps, call, asked, stacking),
    resolveRedeemables(deps, call, asked),
  ]);
  options.check?.(first);

  let named = first;
  for (let attempt = 0; ; attempt += 1) {
    const gathered = await loadDecisionContext(deps, call, circumstances, named);
    const decision = await decide(gathered, call);
    if (hold === undefined || !decision.valid) {
      return { gathered, decision, tracking, session: undefined };
    }
    const applicable = applicableOf(decision);
    if (await lockRedeemables(deps, call, hold, { applicable, gathered })) {
      return { gathered, decision, tracking, session: hold.session };
    }
    if (!(await pauseBeforeRetry(attempt, call.deadline))) break;
    named = await resolveRedeemables(deps, call, asked);
  }
  throw new ApiError("service_unavailable", {
    details: "What the session would lock is being changed; try again",
  });
}

/** What a decision that is only asked for is made under; nothing is written or claimed for it. */
export async function loadRequestContext(
  deps: Deps,
  call: Call,
  asked: DecisionInput,
  stacking: StackingRules,
): Promise<{ readonly circumstances: RequestContext; readonly tracking: string | undefined }> {
  const said = requestedCustomer(asked);
  const [{ sent: order, stored, lines }, customer] = await Promise.all([
    loadOrderWithCatalogueData(deps, call, asked.order, (input) => loadOrder(deps, call, input)),
    loadCustomer(deps, call, said),
  ]);
  const { trackingId: sent } = asked;
  const tracking = trackingId(deps, call, { trackingId: sent, customer: said }, customer);
  const expand = expandOf(asked);
  const trace = expand.has("explanation") || expand.has("hints");
  return {
    circumstances: { asked: { ...asked, order }, said, customer, stored, lines, stacking, trace },
    tracking,
  };
}

/** In turns, so that a decision on much holds nobody else up. */
export const decide = async ({ request }: DecisionContext, { deadline }: Call): Promise<Decided> =>
  runInterleaved(decideStepwise(request), deadline);

/** Each step is a redeemable. */
export function* decideStepwise(request: DecisionRequest): Generator<void, Decided> {
  const decision = yield* decideInSteps(request);
  if (decision.kind === "malformed") throw toRefusal(decision.refusal);
  return decision;
}

export const applicableOf = ({ redeemables }: Decided): readonly Applicable[] =>
  redeemables.filter((judged) => judged.status === "APPLICABLE");
