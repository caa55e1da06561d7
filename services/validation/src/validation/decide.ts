import { type Call, runInterleaved } from "@scrip/rpc";

import { decideInSteps } from "../domain/decide.ts";
import { type DecisionRequest } from "../domain/decision/decision-request.ts";
import type { ApplicableRedeemable, Decision } from "../domain/decision/decision.ts";
import type { DecisionContext } from "../mapping/decision-context.ts";
import { rejectionToApiError } from "../mapping/error.ts";

export type Decided = Extract<Decision, { kind: "decided" }>;

/** Interleaved with other requests, so that a large decision does not block the process. */
export const decide = async ({ request }: DecisionContext, { deadline }: Call): Promise<Decided> =>
  runInterleaved(decideStepwise(request), deadline);

/** Yields after each redeemable. */
export function* decideStepwise(request: DecisionRequest): Generator<void, Decided> {
  const decision = yield* decideInSteps(request);
  if (decision.kind === "malformed") throw rejectionToApiError(decision.rejection);
  return decision;
}

export const applicableOf = ({ redeemables }: Decided): readonly ApplicableRedeemable[] =>
  redeemables.filter((evaluated) => evaluated.status === "APPLICABLE");
