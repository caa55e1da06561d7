import type { Metadata, TimeContext, RuleName } from "@scrip/rules";

import { applyRedeemables } from "./apply-redeemables.ts";
import type { ApplicableRedeemable, Decision, OrderFigures } from "./decision/decision.ts";
import type {
  CallerIdentity,
  CatalogueItem,
  CustomerSnapshot,
  OrderSnapshot,
  Redeemable,
} from "./input/facts.ts";
import {
  type OrderState,
  checkOrder,
  orderFigures,
  initialOrderState,
} from "./order/order-state.ts";
import { redeemableKey } from "./redemption/commit-conflicts.ts";
import type { Rejection } from "./rejections/rejection.ts";
import type { StackingRules } from "./stacking/stacking-rules.ts";

export type DecisionRequest = {
  /** In the order of the request. */
  readonly redeemables: readonly Redeemable[];
  readonly order: OrderSnapshot | null;
  readonly customer: CustomerSnapshot | null;
  /** Of the validation or redemption itself. */
  readonly metadata: Metadata;
  readonly moment: TimeContext;
  readonly stacking: StackingRules;
  /** What was redeemed before, by `countKey`: the counts of `neededCounts`. */
  readonly counts: ReadonlyMap<string, bigint>;
  /** By the id or source id that a discount or an entry of a scope names. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly caller: CallerIdentity;
  /** Whether to tell how it was decided, and what would have to change. */
  readonly explain: boolean;
  /** What is not asked; left out: everything is. */
  readonly ignored?: IgnoredConditions;
  /** By `nameOfRedeemable`: what others were faster to take, with the refusal of it. */
  readonly conflicts?: ReadonlyMap<string, Rejection>;
};

/** Conditions that are taken to hold without a look, as qualifications take those on budgets. */
export type IgnoredConditions = {
  readonly rules: ReadonlySet<RuleName>;
  /** Bundles that are not there are told, and do not matter. */
  readonly bundles: boolean;
  /** What an effect may be refused for, which then is no effect. */
  readonly rejections?: ReadonlySet<Rejection["key"]>;
};

/**
 * Decides what the redeemables of a request do to its order. Validation shows the decision,
 * redemption commits it under its guards; both decide here, so they never disagree.
 */
export const decide = (request: DecisionRequest): Decision =>
  runToCompletion(decideInSteps(request));

/** The same decision in steps of one redeemable each, for who has other things to do in between. */
export function* decideInSteps(request: DecisionRequest): Generator<void, Decision> {
  const { redeemables, order, stacking } = request;
  const rejection =
    checkRedeemables(redeemables, stacking) ??
    checkDistinctResources(redeemables) ??
    (order === null ? null : checkOrder(order));
  if (rejection !== null) return { kind: "malformed", rejection };

  const start = initialOrderState(order);
  const stacked = yield* applyRedeemables(redeemables, { ...request, start });
  if (!stacked.valid) {
    const { valid, redeemables: judged } = stacked;
    return { kind: "decided", valid, redeemables: judged, order: null, guards: [] };
  }
  const applicable = stacked.redeemables.filter((judged) => judged.status === "APPLICABLE");
  return {
    kind: "decided",
    valid: true,
    redeemables: stacked.redeemables,
    order: order === null ? null : finalFigures(start, stacked.state, applicable),
    guards: applicable.flatMap((judged) => judged.guards),
  };
}

/** One that applies alone has already calculated the figures of the whole request. */
function finalFigures(
  start: OrderState,
  end: OrderState,
  applicable: readonly ApplicableRedeemable[],
): OrderFigures {
  const [first, ...others] = applicable;
  return others.length === 0 && first?.order ? first.order : orderFigures(start, end);
}

/** A redeemable as it is sent: a promotion is named before it can be found. */
export type RedeemableReference = {
  readonly object: Redeemable["object"];
  readonly id: string;
};

/** Also for callers who want to refuse a request before they gather anything for it. */
export function checkRedeemables(
  redeemables: readonly RedeemableReference[],
  stacking: Pick<StackingRules, "redeemablesLimit">,
): Rejection | null {
  const { length } = redeemables;
  if (length === 0)
    return invalidPayload("Property .redeemables should NOT have fewer than 1 items");
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
  const distinct = new Set(redeemables.map(redeemableKey));
  return distinct.size < length ? duplicatedRedeemables : null;
}

/** One voucher may hide behind its code and its id, or behind two spellings of a code. */
function checkDistinctResources(redeemables: readonly Redeemable[]): Rejection | null {
  const found = redeemables.flatMap((redeemable) => resourceId(redeemable) ?? []);
  return new Set(found).size < found.length ? duplicatedRedeemables : null;
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
