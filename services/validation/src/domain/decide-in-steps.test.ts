import type { ValidationRule } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  buildCampaign,
  buildDiscount,
  buildDiscountVoucher,
  buildScopeEntry,
  buildLine,
  buildOrder,
  buildRule,
  voucherRedeemable,
  buildRequest,
} from "../../test/builders.ts";
import { decide, decideInSteps } from "./decide.ts";
import { MAX_LINES } from "./order/order-state.ts";

type Size = { readonly redeemables: number; readonly rules: number; readonly lines: number };

const LARGEST: Size = { redeemables: 30, rules: 10, lines: MAX_LINES };

function requestWith({ redeemables, rules, lines }: Size) {
  const shared = Array.from({ length: rules }, (_, n) => ruleOf(n));
  const campaign = buildCampaign();
  return buildRequest({
    redeemables: Array.from({ length: redeemables }, (_, n) =>
      voucherRedeemable(
        buildDiscountVoucher(`CODE${n}`, onItems, {
          campaign,
          // Half of the vouchers share their rules, the others have their own.
          rules: n % 2 === 0 ? shared : shared.map((_rule, at) => ruleOf(at)),
        }),
      ),
    ),
    order: buildOrder({ lines: Array.from({ length: lines }, (_, n) => lineOf(n)) }),
    explain: true,
    stacking: { ...buildRequest({}).stacking, applicableRedeemablesLimit: 30 },
  });
}

const onItems = buildDiscount({ type: "PERCENT", percentOff: "1", effect: "APPLY_TO_ITEMS" });

const lineOf = (n: number) =>
  buildLine({ productId: `prod_${n}`, quantity: BigInt(n % 5) + 1n, prices: { line: 1999n } });

const ruleOf = (n: number): ValidationRule =>
  buildRule(
    `val_${n}`,
    {
      1: { name: "order.items.any", conditions: { $in: [`prod_${n}`, "prod_0"] } },
      2: { name: "redemption.count.per_customer", conditions: { $less_than_or_equal: [n] } },
      logic: "1 OR 2",
    },
    {
      applicableTo: {
        included: [n, n + 1].map((at) => buildScopeEntry({ id: `prod_${at}` })),
        excluded: [buildScopeEntry({ id: `prod_${n * 2}` })],
        includedAll: n % 3 === 0,
      },
    },
  );

function stepsOf(size: Size) {
  const steps = decideInSteps(requestWith(size));
  for (let count = 1; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return { count, decision: value };
  }
}

describe("decideInSteps", () => {
  test("takes one step per redeemable and returns the same decision as decide", () => {
    const { count, decision } = stepsOf(LARGEST);
    expect(count).toBe(LARGEST.redeemables);
    expect(decision).toEqual(decide(requestWith(LARGEST)));
  });

  test("takes one step for a single redeemable", () => {
    expect(stepsOf({ ...LARGEST, redeemables: 1 }).count).toBe(1);
  });

  test("returns the same decision for an order that was decided on before", () => {
    const sizes = fc.record({
      redeemables: fc.integer({ min: 1, max: 5 }),
      rules: fc.nat({ max: 5 }),
      lines: fc.nat({ max: 20 }),
    });
    fc.assert(
      fc.property(sizes, sizes, (size, other) => {
        const { order } = requestWith(size);
        const [first, second] = [requestWith(size), requestWith({ ...other, lines: size.lines })];
        expect(decide({ ...first, order })).toEqual(decide(first));
        expect(decide({ ...second, order })).toEqual(decide(second));
      }),
    );
  });
});
