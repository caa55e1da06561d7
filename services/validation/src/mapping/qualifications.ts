import { create } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  type Qualifications,
  QualificationsSchema,
  type QualifiedRedeemable,
  QualifiedRedeemableSchema,
} from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import type { RedeemableResult } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Call } from "@scrip/rpc";

import { orderFigures } from "../domain/order/order-figures.ts";
import { initialOrderState } from "../domain/order/order-state.ts";
import { categoryKind } from "../domain/stacking/exclusive-categories.ts";
import { type StackingRules } from "../domain/stacking/stacking-rules.ts";
import type { AssignmentRow } from "../store/rule-assignments.ts";
import { UNLIMITED } from "./applicable-to.ts";
import type { RequestContext } from "./decision-context.ts";
import { expandOf } from "./decision-input.ts";
import type { EvaluatedCandidate, QualificationPage } from "./evaluated-candidate.ts";
import { audienceOf } from "./explanation.ts";
import { orderFromProto } from "./order-input.ts";
import { orderToProto } from "./order.ts";
import { qualifiedRulesToProto } from "./qualified-rules.ts";
import { redeemableResultToProto } from "./redeemable-result.ts";
import { stackingRulesToProto } from "./stacking-rules.ts";

export type QualificationsContext = {
  readonly requestContext: RequestContext;
  readonly tracking: string | undefined;
  /** As configured for the project. */
  readonly settings: StackingRules;
  readonly limit: number;
  /** Rule assignments by object id; null unless the request expands them. */
  readonly assignments: ReadonlyMap<string, readonly AssignmentRow[]> | null;
};

/** Yields after each redeemable, because each shows the order. */
export function* qualificationsToProto(
  call: Call,
  { page, unqualified, nextCursor: more }: QualificationPage,
  { requestContext, tracking, settings, limit, assignments }: QualificationsContext,
): Generator<void, Qualifications> {
  const { input, storedOrder } = requestContext;
  const expand = expandOf(input);
  const audience = audienceOf(call);
  const order = input.order;
  const start = order && initialOrderState(orderFromProto(order, storedOrder));
  const data: QualifiedRedeemable[] = [];
  for (const one of page) {
    data.push({
      ...qualifiedToProto(one, call),
      ...(assignments !== null && {
        validationRulesAssignments: qualifiedRulesToProto(one, assignments, audience),
      }),
    });
    yield;
  }
  const near = expand.has("hints") ? yield* nearMisses(unqualified, limit, call) : undefined;
  return create(QualificationsSchema, {
    redeemables: {
      data,
      total: BigInt(page.length),
      hasMore: more !== null,
      ...(more !== null && { moreStartingAfter: more }),
    },
    stackingRules: stackingRulesToProto(settings),
    ...(tracking !== undefined && { trackingId: tracking }),
    ...(start !== undefined &&
      order !== undefined && {
        order: orderToProto(orderFigures(start, start), order, storedOrder),
      }),
    ...(near !== undefined && { inapplicableRedeemables: near }),
  });
}

/** Candidates that would qualify after a change that the caller may see. */
function* nearMisses(
  unqualified: readonly EvaluatedCandidate[],
  limit: number,
  call: Call,
): Generator<void, RedeemableResult[]> {
  const near: RedeemableResult[] = [];
  for (const { evaluated, context } of unqualified) {
    if (near.length === limit) break;
    for (const one of evaluated) {
      if (one.status !== "INAPPLICABLE" || one.hints.length === 0) continue;
      const result = redeemableResultToProto(one, context, call);
      if ((result.result?.hints.length ?? 0) > 0) near.push(result);
    }
    yield;
  }
  return near.slice(0, limit);
}

function qualifiedToProto(one: EvaluatedCandidate, call: Call): QualifiedRedeemable {
  const { candidate, evaluated, order, context } = one;
  const { input, storedOrder } = context;
  const results = evaluated.map((each) => redeemableResultToProto(each, context, call));
  return create(QualifiedRedeemableSchema, {
    ...(candidate.object === "promotion_stack"
      ? stackToProto(one, results)
      : singleToProto(one, results)),
    id: candidate.id,
    object: candidate.object,
    createdAt: instantToProto(candidate.createdAt),
    // Included regardless of `expand`: candidates are compared by it.
    ...(order !== null &&
      input.order !== undefined && { order: orderToProto(order, input.order, storedOrder) }),
  });
}

type Shown = Partial<Omit<QualifiedRedeemable, "$typeName" | "$unknown">>;

function singleToProto(
  { candidate, context }: EvaluatedCandidate,
  [result]: RedeemableResult[],
): Shown {
  if (result === undefined) throw new Error("a decision without its redeemable");
  const banner = context.promotions.tiers.get(candidate.id)?.banner;
  const { $typeName: _, status: _status, order: _order, ...shown } = result;
  const isDescribed = expandOf(context.input).has("redeemable");
  return { ...shown, ...(isDescribed && banner !== undefined && { banner }) };
}

/** Describes the stack; the effects are those of its tiers. */
function stackToProto(
  { candidate, context }: EvaluatedCandidate,
  redeemables: RedeemableResult[],
): Shown {
  const { promotions, stacking, input } = context;
  const expand = expandOf(input);
  const stack = promotions.stacks.get(candidate.id);
  const campaign = promotions.campaigns.get(candidate.campaignId ?? "");
  if (stack === undefined) throw new Error(`promotion stack ${candidate.id} was not loaded`);
  return {
    redeemables,
    ...UNLIMITED,
    ...(expand.has("redeemable") && {
      name: stack.name,
      metadata: stack.metadata ?? {},
      campaignId: stack.campaignId,
      ...(campaign !== undefined && { campaignName: campaign.name }),
    }),
    ...(expand.has("category") && {
      expandsCategories: true,
      categories: [...stack.categories, ...(campaign?.categories ?? [])].map((category) => ({
        ...category,
        stackingRulesType: categoryKind(category.id, stacking),
      })),
    }),
  };
}
