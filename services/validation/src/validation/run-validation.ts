import { ApiError } from "@scrip/errors";
import type { Session } from "@scrip/proto/scrip/common/v1/session_pb";
import type { Call } from "@scrip/rpc";

import { pauseBeforeRetry } from "../commit/commit-retry.ts";
import type { Deps } from "../deps.ts";
import { checkRedeemables } from "../domain/decide.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import { loadDecisionContext } from "../loading/decision-context.ts";
import { loadRequestContext } from "../loading/request-context.ts";
import { resolveRedeemables } from "../loading/resolved-redeemables.ts";
import { loadStackingRules } from "../loading/stacking-rules.ts";
import type { ResolvedRedeemables, DecisionContext } from "../mapping/decision-context.ts";
import type { DecisionInput } from "../mapping/decision-input.ts";
import { rejectionToApiError } from "../mapping/error.ts";
import { lockRedeemables } from "../session/lock-redeemables.ts";
import { parseSessionLock } from "../session/session-lock.ts";
import { type Decided, decide, applicableOf } from "./decide.ts";

/** A decision without a commit, with the data to build its response from. */
export type ValidationOutcome = {
  readonly context: DecisionContext;
  readonly decision: Decided;
  readonly tracking: string | undefined;
  /** Set if the decision was locked. */
  readonly session: Session | undefined;
};

export type ValidationOptions = {
  /** Replaces project rules that make no sense for a single redeemable. */
  readonly stacking?: (rules: StackingRules) => StackingRules;
  /** Ends the request before the decision, e.g. for an unknown voucher. */
  readonly check?: (resolved: ResolvedRedeemables) => void;
};

/**
 * Decides, and locks the applicable redeemables if the request has a session
 * (docs/sessions.md#locks). If a concurrent request changed or locked them first, it decides again,
 * and the response then says why they do not apply.
 */
export async function runValidation(
  deps: Deps,
  call: Call,
  sent: DecisionInput,
  options: ValidationOptions = {},
): Promise<ValidationOutcome> {
  const lock = parseSessionLock(deps, call, sent.session);
  const input = lock === undefined ? sent : { ...sent, session: lock.session };
  const settings = await loadStackingRules(deps, call);
  const stacking = options.stacking?.(settings) ?? settings;
  const malformed = checkRedeemables(input.redeemables, stacking);
  if (malformed !== null) throw rejectionToApiError(malformed);

  const [{ requestContext, tracking }, first] = await Promise.all([
    loadRequestContext(deps, call, input, stacking),
    resolveRedeemables(deps, call, input),
  ]);
  options.check?.(first);

  let resolved = first;
  for (let attempt = 0; ; attempt += 1) {
    const context = await loadDecisionContext(deps, call, requestContext, resolved);
    const decision = await decide(context, call, input.options?.expand);
    if (lock === undefined || !decision.valid) {
      return { context, decision, tracking, session: undefined };
    }
    const applicable = applicableOf(decision);
    if (await lockRedeemables(deps, call, lock, { applicable, context })) {
      return { context, decision, tracking, session: lock.session };
    }
    if (!(await pauseBeforeRetry(attempt, call.deadline))) break;
    resolved = await resolveRedeemables(deps, call, input);
  }
  throw new ApiError("service_unavailable", {
    details: "Redeemables of the session are being changed concurrently; try again",
  });
}
