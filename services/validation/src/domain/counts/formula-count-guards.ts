import type { Discount, Formula, ValidationRule } from "@scrip/rules";

import type { Guard } from "../decision/decision.ts";
import { type Subject, rulesOf } from "../input/subject.ts";

/** When a formula read how often the voucher was redeemed, that must still be so at the commit. */
export function formulaCountGuards(subject: Subject): readonly Guard[] {
  if (subject.kind !== "voucher") return [];
  const { id, redeemedQuantity, value } = subject.snapshot;
  const discount = value.type === "DISCOUNT_VOUCHER" ? value.discount : null;
  if (
    ![...discountFormulas(discount), ...rulesOf(subject).flatMap(ruleFormulas)].some(
      readsRedeemedQuantity,
    )
  ) {
    return [];
  }
  return [
    {
      kind: "count",
      count: {
        scope: { kind: "voucher", id },
        measure: "REDEMPTIONS",
        customerId: null,
        channelId: null,
        since: null,
        productId: null,
      },
      add: 0n,
      conditions: { $is: [Number(redeemedQuantity)] },
      rejection: null,
    },
  ];
}

const readsRedeemedQuantity = (formula: Formula | null): boolean =>
  formula !== null && formula.names.has("VOUCHER_REDEEMED_QUANTITY");

function discountFormulas(discount: Discount | null): readonly (Formula | null)[] {
  if (discount === null) return [];
  return discount.type === "UNIT"
    ? discount.gifts.map(({ formula }) => formula)
    : [discount.formula];
}

const ruleFormulas = ({ scope }: ValidationRule): readonly (Formula | null)[] =>
  (scope?.included ?? []).flatMap(({ priceFormula, budgets }) => [
    priceFormula,
    ...budgets.map(({ formula }) => formula),
  ]);
