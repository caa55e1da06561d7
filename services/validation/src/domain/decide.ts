import { applyRedeemables } from "./apply-redeemables.ts";
import type { DecisionRequest } from "./decision/decision-request.ts";
import type { ApplicableRedeemable, Decision } from "./decision/decision.ts";
import { type Redeemable, type RedeemableReference, redeemableKey } from "./input/redeemable.ts";
import { type OrderFigures, orderFigures } from "./order/order-figures.ts";
import { type OrderState, checkOrder, initialOrderState } from "./order/order-state.ts";
import type { Rejection } from "./rejections/rejection.ts";
import type { StackingRules } from "./stacking/stacking-rules.ts";

/**
 * Decides which redeemables of a request apply and what they do to its order. Validation,
 * qualification and redemption all decide here, so that they never disagree.
 * docs/order-calculation.md
 */
export const decide = (request: DecisionRequest): Decision =>
  runToCompletion(decideInSteps(request));

/** The same decision in steps of one redeemable, so that the caller can interleave other work. */
export function* decideInSteps(request: DecisionRequest): Generator<void, Decision> {
  const { redeemables, order, stacking } = request;
  const rejection =
    checkRedeemables(redeemables, stacking) ??
    checkDistinctResources(redeemables) ??
    (order === null ? null : checkOrder(order));
  if (rejection !== null) return { kind: "malformed", rejection };

  const start = initialOrderState(order);
  const applied = yield* applyRedeemables(redeemables, { ...request, start });
  if (!applied.valid) {
    return { kind: "decided", valid: false, redeemables: applied.redeemables, order: null };
  }
  const applicable = applied.redeemables.filter((result) => result.status === "APPLICABLE");
  return {
    kind: "decided",
    valid: true,
    redeemables: applied.redeemables,
    order: order === null ? null : finalFigures(start, applied.state, applicable),
  };
}

/** The figures of a single applicable redeemable are those of the whole request. */
function finalFigures(
  start: OrderState,
  end: OrderState,
  applicable: readonly ApplicableRedeemable[],
): OrderFigures {
  const [first, ...others] = applicable;
  return others.length === 0 && first?.order ? first.order : orderFigures(start, end);
}

/** Checks the redeemables of a request before anything is loaded for them. */
export function checkRedeemables(
  redeemables: readonly RedeemableReference[],
  stacking: Pick<StackingRules, "redeemablesLimit">,
): Rejection | null {
  const { length } = redeemables;
  if (length === 0) {
    return invalidPayload("Property .redeemables should NOT have fewer than 1 items");
  }
  if (length > stacking.redeemablesLimit) {
    const limit = stacking.redeemablesLimit;
    return invalidPayload(`Property .redeemables must NOT have more than ${limit} items`);
  }
  if (length > 1 && redeemables.some(({ object }) => object === "promotion_stack")) {
    return {
      key: "invalid_redeemables",
      details: "Promotion Stack cannot be use with other redeemables",
    };
  }
  const keys = new Set(redeemables.map(redeemableKey));
  return keys.size < length ? duplicatedRedeemables : null;
}

/** A voucher can be included twice by its code and its id, or by two spellings of its code. */
function checkDistinctResources(redeemables: readonly Redeemable[]): Rejection | null {
  const ids = redeemables.flatMap((redeemable) => resourceId(redeemable) ?? []);
  return new Set(ids).size < ids.length ? duplicatedRedeemables : null;
}

const resourceId = (redeemable: Redeemable): string | undefined =>
  redeemable.object === "voucher" ? redeemable.voucher?.id : redeemable.tier?.id;

const invalidPayload = (details: string): Rejection => ({ key: "invalid_payload", details });

const duplicatedRedeemables: Rejection = {
  key: "duplicated_redeemables",
  details: "Duplicated redeemables detected in one redemption",
};

function runToCompletion<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
