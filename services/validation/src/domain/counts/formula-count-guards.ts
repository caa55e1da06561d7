import type { Formula, ValidationRule } from "@scrip/rules";

import { type Subject, discountOf, formulasOfDiscount, rulesOf } from "../input/subject.ts";
import type { CountGuard } from "./count-guard.ts";

/**
 * A formula that read VOUCHER_REDEEMED_QUANTITY requires that the quantity is unchanged at the
 * commit.
 */
export function formulaCountGuards(subject: Subject): readonly CountGuard[] {
  if (subject.kind !== "voucher") return [];
  const { id, redeemedQuantity } = subject.snapshot;
  const formulas = [
    ...formulasOfDiscount(discountOf(subject)),
    ...rulesOf(subject).flatMap(formulasOfRule),
  ];
  if (!formulas.some(readsRedeemedQuantity)) return [];
  return [
    {
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

const formulasOfRule = ({ scope }: ValidationRule): readonly (Formula | null)[] =>
  (scope?.included ?? []).flatMap(({ priceFormula, budgets }) => [
    priceFormula,
    ...budgets.map(({ formula }) => formula),
  ]);
