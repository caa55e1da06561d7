import type { Metadata, TimeContext, RuleName } from "@scrip/rules";

import { applyStack } from "./apply-redeemables.ts";
import type { Applicable, Decision, OrderFigures } from "./decision/decision.ts";
import type {
  CallerFacts,
  CatalogueItem,
  CustomerFacts,
  OrderFacts,
  Redeemable,
} from "./input/facts.ts";
import { type OrderState, checkOrder, orderFigures, startOrder } from "./order/order-state.ts";
import { nameOfRedeemable } from "./redemption/commit-conflicts.ts";
import type { Refused } from "./rejections/rejection.ts";
import type { StackingRules } from "./stacking/stacking-rules.ts";

export type DecisionRequest = {
  /** In the order of the request. */
  readonly redeemables: readonly Redeemable[];
  readonly order: OrderFacts | null;
  readonly customer: CustomerFacts | null;
  /** Of the validation or redemption itself. */
  readonly metadata: Metadata;
  readonly moment: TimeContext;
  readonly stacking: StackingRules;
  /** What was redeemed before, by `countKey`: the counts of `neededCounts`. */
  readonly counts: ReadonlyMap<string, bigint>;
  /** By the id or source id that a discount or an entry of a scope names. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly caller: CallerFacts;
  /** Whether to tell how it was decided, and what would have to change. */
  readonly trace: boolean;
  /** What is not asked; left out: everything is. */
  readonly omits?: Omissions;
  /** By `nameOfRedeemable`: what others were faster to take, with the refusal of it. */
  readonly lost?: ReadonlyMap<string, Refused>;
};

/** Conditions that are taken to hold without a look, as qualifications take those on budgets. */
export type Omissions = {
  readonly rules: ReadonlySet<RuleName>;
  /** Bundles that are not there are told, and do not matter. */
  readonly bundles: boolean;
  /** What an effect may be refused for, which then is no effect. */
  readonly refusals?: ReadonlySet<Refused["key"]>;
};

/**
 * Decides what the redeemables of a request do to its order. Validation shows the decision,
 * redemption commits it under its guards; both decide here, so they never disagree.
 */
export const decide = (request: DecisionRequest): Decision => runToEnd(decideInSteps(request));

/** The same decision in steps of one redeemable each, for who has other things to do in between. */
export function* decideInSteps(request: DecisionRequest): Generator<void, Decision> {
  const { redeemables, order, stacking } = request;
  const refusal =
    checkRedeemables(redeemables, stacking) ??
    checkDistinct(redeemables) ??
    (order === null ? null : checkOrder(order));
  if (refusal !== null) return { kind: "malformed", refusal };

  const start = startOrder(order);
  const stacked = yield* applyStack(redeemables, { ...request, start });
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
  applicable: readonly Applicable[],
): OrderFigures {
  const [first, ...others] = applicable;
  return others.length === 0 && first?.order ? first.order : orderFigures(start, end);
}

/** A redeemable as it is sent: a promotion is named before it can be found. */
export type RedeemableName = {
  readonly object: Redeemable["object"];
  readonly id: string;
};

/** Also for callers who want to refuse a request before they gather anything for it. */
export function checkRedeemables(
  redeemables: readonly RedeemableName[],
  stacking: Pick<StackingRules, "redeemablesLimit">,
): Refused | null {
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
  const distinct = new Set(redeemables.map(nameOfRedeemable));
  return distinct.size < length ? duplicatedRedeemables : null;
}

/** One voucher may hide behind its code and its id, or behind two spellings of a code. */
function checkDistinct(redeemables: readonly Redeemable[]): Refused | null {
  const found = redeemables.flatMap((redeemable) => foundId(redeemable) ?? []);
  return new Set(found).size < found.length ? duplicatedRedeemables : null;
}

const foundId = (redeemable: Redeemable): string | undefined =>
  redeemable.object === "voucher" ? redeemable.voucher?.id : redeemable.tier?.id;

const invalidPayload = (details: string): Refused => ({ key: "invalid_payload", details });

const duplicatedRedeemables: Refused = {
  key: "duplicated_redeemables",
  details: "Duplicated redeemables detected in one redemption",
};

function runToEnd<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
