import type {
  ApplicableItem,
  ApplicableTo,
  ItemUnits,
} from "@scrip/proto/scrip/common/v1/applicable_to_pb";
import type { RedemptionScope } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { MatchedEntry, MatchedUnits } from "../domain/applicable-items/matched-scope.ts";
import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";

/** Read-only and therefore shared. */
const NOTHING_LISTED: ApplicableTo = {
  $typeName: "scrip.common.v1.ApplicableTo",
  data: [],
  total: 0n,
};

/** For redeemables without a scope: they apply to everything. */
export const UNLIMITED = { applicableTo: NOTHING_LISTED, inapplicableTo: NOTHING_LISTED } as const;

/**
 * The items a redeemable applies to, and the order lines and units among them (docs/validation-
 * rules.md#applicable-items).
 */
export function applicableItemsToProto(evaluated: EvaluatedRedeemable): {
  readonly applicableTo: ApplicableTo;
  readonly inapplicableTo: ApplicableTo;
} {
  if (evaluated.status === "SKIPPED") return UNLIMITED;
  const { applicable, inapplicable } = evaluated.scope;
  return { applicableTo: listOf(applicable), inapplicableTo: listOf(inapplicable) };
}

/** The scope of a redemption; undefined if no rule limits it to products. */
export function limitedScope(evaluated: EvaluatedRedeemable): RedemptionScope | undefined {
  const { applicableTo, inapplicableTo } = applicableItemsToProto(evaluated);
  return applicableTo.total + inapplicableTo.total === 0n
    ? undefined
    : { $typeName: "scrip.voucher.v1.RedemptionScope", applicableTo, inapplicableTo };
}

const listOf = (entries: readonly MatchedEntry[]): ApplicableTo =>
  entries.length === 0
    ? NOTHING_LISTED
    : { ...NOTHING_LISTED, data: entries.map(itemOf), total: BigInt(entries.length) };

function itemOf(entry: MatchedEntry): ApplicableItem {
  return {
    $typeName: "scrip.common.v1.ApplicableItem",
    object: entry.object,
    id: entry.id ?? entry.sourceId ?? "",
    effect: entry.effect,
    target: entry.target,
    skipInitially: Number(entry.skipInitially),
    repeat: Number(entry.repeat),
    orderItemIndices: [...entry.orderItemIndices],
    orderItemUnits: entry.orderItemUnits.map(unitsOf),
    sourceId: entry.sourceId ?? undefined,
    productId: entry.productId ?? undefined,
    productSourceId: entry.productSourceId ?? undefined,
    price: entry.price ?? undefined,
    priceFormula: entry.priceFormulaText ?? undefined,
    quantityLimit: entry.quantityLimit ?? undefined,
    aggregatedQuantityLimit: entry.aggregatedQuantityLimit ?? undefined,
    amountLimit: entry.amountLimit ?? undefined,
    aggregatedAmountLimit: entry.aggregatedAmountLimit ?? undefined,
    strict: entry.strict ?? undefined,
  };
}

const unitsOf = ({ index, units }: MatchedUnits): ItemUnits => ({
  $typeName: "scrip.common.v1.ItemUnits",
  index,
  units: [...(units ?? [])],
  unitsLimitExceeded: units === null ? true : undefined,
});
