import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { earnedPoints, type TierMapping } from "./earned-points.ts";
import type { Calculation, CalculationType, ItemTarget } from "./earning-rule.ts";
import type { EarningItem, EarningOrder, EarningSubject } from "./subject.ts";

const product = (id: string): ItemTarget => ({ object: "product", id });

const item = (
  productId: string,
  fields: Partial<EarningItem> & { price?: bigint; quantity?: bigint },
): EarningItem => {
  const { price = 0n, quantity = 1n } = fields;
  const amount = price * quantity;
  return {
    productId,
    skuId: null,
    productSourceId: null,
    skuSourceId: null,
    collections: [],
    metadata: {},
    productMetadata: {},
    discountQuantity: 0n,
    subtotalAmount: amount,
    ...fields,
    price,
    quantity,
    amount,
  };
};

const subject = (order: Partial<EarningOrder>, rest: Partial<EarningSubject> = {}) => ({
  order: {
    id: "ord_1",
    sourceId: null,
    amount: 0n,
    initialAmount: 0n,
    totalAmount: 0n,
    metadata: {},
    items: [],
    ...order,
  },
  customerMetadata: {},
  segmentIds: [],
  unreadableSegmentIds: [],
  tierIds: [],
  eventMetadata: null,
  time: { now: 0, timeZone: "UTC" },
  ...rest,
});

const fixed = (points: bigint, formula: string | null = null): Calculation => ({
  type: "FIXED",
  points,
  formula,
});

const per = (
  measure: CalculationType,
  every: bigint,
  points: bigint,
  rest: { property?: string; targets?: readonly ItemTarget[]; formula?: string } = {},
): Calculation => ({
  type: "PROPORTIONAL",
  measure,
  every,
  points,
  formula: rest.formula ?? null,
  property: rest.property ?? null,
  targets: rest.targets ?? [],
});

const times = (unscaled: bigint, scale: number): TierMapping => ({
  type: "MULTIPLY",
  multiplier: { unscaled, scale },
});

const TWO_PRODUCTS = [
  item("a", { price: 700n, quantity: 2n }),
  item("b", { price: 500n, quantity: 3n }),
];
const QUANTITIES = [item("a", { quantity: 3n }), item("b", { quantity: 4n })];
const BOTH = [product("a"), product("b")];

type Case = readonly [
  what: string,
  Calculation,
  EarningSubject,
  expected: bigint,
  mapping?: TierMapping,
];

const CASES: readonly Case[] = [
  ["order amount", per("ORDER_AMOUNT", 1000n, 1n), subject({ amount: 12345n }), 12n],
  [
    "order total amount",
    per("ORDER_TOTAL_AMOUNT", 500n, 10n),
    subject({ amount: 1n, totalAmount: 45_000n }),
    900n,
  ],
  [
    "order metadata",
    per("ORDER_METADATA", 10n, 2n, { property: "n" }),
    subject({ metadata: { n: 47 } }),
    8n,
  ],
  [
    "decimal metadata",
    per("ORDER_METADATA", 2n, 5n, { property: "n" }),
    subject({ metadata: { n: 3.99 } }),
    5n,
  ],
  [
    "text metadata",
    per("ORDER_METADATA", 1n, 2n, { property: "n" }),
    subject({ metadata: { n: "47" } }),
    0n,
  ],
  ["missing metadata", per("ORDER_METADATA", 1n, 2n, { property: "n" }), subject({}), 0n],
  [
    "matching items only",
    per("ORDER_ITEMS_AMOUNT", 500n, 3n, { targets: [product("a")] }),
    subject({ items: TWO_PRODUCTS }),
    6n,
  ],
  [
    "quantities of all items together",
    per("ORDER_ITEMS_QUANTITY", 2n, 1n, { targets: BOTH }),
    subject({ items: QUANTITIES }),
    3n,
  ],
  [
    "an item once, however many targets match",
    per("ORDER_ITEMS_QUANTITY", 1n, 1n, {
      targets: [product("a"), product("a"), { object: "products_collection", id: "c" }],
    }),
    subject({ items: [item("a", { quantity: 3n, collections: ["c"] })] }),
    3n,
  ],
  [
    "a product for its SKUs",
    per("ORDER_ITEMS_QUANTITY", 1n, 1n, { targets: [product("a"), { object: "sku", id: "s" }] }),
    subject({ items: [item("a", { skuId: "x" }), item("b", { skuId: "s" })] }),
    2n,
  ],
  [
    "paid units only",
    per("ORDER_ITEMS_QUANTITY", 1n, 1n, { targets: BOTH }),
    subject({ items: [item("a", { quantity: 5n, discountQuantity: 2n })] }),
    3n,
  ],
  [
    "subtotals",
    per("ORDER_ITEMS_SUBTOTAL_AMOUNT", 100n, 1n, { targets: BOTH }),
    subject({ items: [item("a", { price: 1000n, subtotalAmount: 750n })] }),
    7n,
  ],
  [
    "customer metadata",
    per("CUSTOMER_METADATA", 1n, 4n, { property: "n" }),
    subject({}, { customerMetadata: { n: 3 } }),
    12n,
  ],
  [
    "metadata of a custom event",
    per("CUSTOM_EVENT_METADATA", 10n, 1n, { property: "n" }),
    subject({}, { order: null, eventMetadata: { n: 99 } }),
    9n,
  ],
  [
    "a negative measure",
    per("ORDER_METADATA", 1n, 2n, { property: "n" }),
    subject({ metadata: { n: -5 } }),
    0n,
  ],
  ["fixed points", fixed(5n), subject({}), 5n],
  ["fixed points times a multiplier, rounded half up", fixed(5n), subject({}), 8n, times(15n, 1)],
  ["fixed points replaced by a tier", fixed(5n), subject({}), 20n, { type: "CUSTOM", points: 20n }],
  [
    "units times the points of a tier",
    per("ORDER_AMOUNT", 1000n, 1n),
    subject({ amount: 12_345n }),
    36n,
    { type: "CUSTOM", points: 3n },
  ],
  [
    "no unit, whatever the tier",
    per("ORDER_AMOUNT", 1000n, 5n),
    subject({ amount: 999n }),
    0n,
    times(10n, 0),
  ],
  ["a formula in major units", fixed(1n, "ORDER_AMOUNT / 4"), subject({ amount: 1000n }), 3n],
  ["a formula that has no value", fixed(7n, 'ORDER_METADATA("n")'), subject({}), 7n],
  [
    "a formula for each unit, rounded at the end only",
    per("ORDER_AMOUNT", 100n, 1n, { formula: "0.5" }),
    subject({ amount: 300n }),
    2n,
  ],
  ["a negative formula", fixed(7n, "0 - 3"), subject({}), 0n],
];

describe("earnedPoints", () => {
  const cases = CASES.map(([what, calculation, event, expected, mapping = null]) => ({
    what,
    points: () => earnedPoints(calculation, event, mapping),
    expected,
  }));
  test.each(cases)("counts $what", ({ points, expected }) => expect(points()).toBe(expected));

  const amounts = fc.bigInt({ min: 0n, max: 10_000_000n });
  const sizes = fc.bigInt({ min: 1n, max: 100_000n });
  const pointsOfUnit = fc.bigInt({ min: 0n, max: 1_000n });

  test("grants whole units only: a larger order never earns less, and a fraction of a unit earns nothing", () => {
    fc.assert(
      fc.property(amounts, amounts, sizes, pointsOfUnit, (amount, more, every, each) => {
        const of = (value: bigint) =>
          earnedPoints(per("ORDER_AMOUNT", every, each), subject({ amount: value }));
        expect(of(amount)).toBe((amount / every) * each);
        expect(of(amount + more)).toBeGreaterThanOrEqual(of(amount));
      }),
    );
  });

  test("depends on the sum of the items, not on how they are split", () => {
    fc.assert(
      fc.property(
        fc.array(amounts, { maxLength: 8 }),
        sizes,
        pointsOfUnit,
        (prices, every, each) => {
          const rule = per("ORDER_ITEMS_AMOUNT", every, each, { targets: [product("a")] });
          const sum = prices.reduce((total, price) => total + price, 0n);
          const split = prices.map((price) => item("a", { price }));
          expect(earnedPoints(rule, subject({ items: split }))).toBe(
            earnedPoints(rule, subject({ items: [item("a", { price: sum })] })),
          );
        },
      ),
    );
  });

  test("a multiplier rounds the result half up, once", () => {
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 0n, max: 1_000n }), (base, percent) => {
        const earned = earnedPoints(fixed(base), subject({}), times(percent, 2));
        expect(earned).toBe((base * percent * 2n + 100n) / 200n);
      }),
    );
  });
});
