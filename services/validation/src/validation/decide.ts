import { type Call, decisionWork, runInterleaved } from "@scrip/rpc";

import { decideInSteps } from "../domain/decide.ts";
import { type DecisionRequest } from "../domain/decision/decision-request.ts";
import type { ApplicableRedeemable, Decision } from "../domain/decision/decision.ts";
import type { DecisionContext } from "../mapping/decision-context.ts";
import { rejectionToApiError } from "../mapping/error.ts";

export type Decided = Extract<Decision, { kind: "decided" }>;

/** Interleaved with other requests, so that a large decision does not block the process. */
export async function decide(
  { request }: DecisionContext,
  call: Call,
  expand?: readonly string[],
): Promise<Decided> {
  const turn = admitDecision(request, call, expand);
  if (turn !== undefined) await turn;
  return runInterleaved(decideStepwise(request), call);
}

/** Yields after each redeemable. */
export function* decideStepwise(request: DecisionRequest): Generator<void, Decided> {
  const decision = yield* decideInSteps(request);
  if (decision.kind === "malformed") throw rejectionToApiError(decision.rejection);
  return decision;
}

export const applicableOf = ({ redeemables }: Decided): readonly ApplicableRedeemable[] =>
  redeemables.filter((evaluated) => evaluated.status === "APPLICABLE");

/**
 * Waits for the turn of a large decision. Its size is known only here: the order may be a stored one, and a stack
 * have many tiers. `expand` is that of a validation, whose response may leave out orders.
 */
export const admitDecision = (
  { redeemables, order }: DecisionRequest,
  call: Call,
  expand?: readonly string[],
): Promise<void> | undefined =>
  call.admit?.(
    decisionWork({ redeemables: redeemables.length, lines: order?.lines.length ?? 0, expand }),
  );
