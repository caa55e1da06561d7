import { readFileSync } from "node:fs";

import { type ValidationRule, parseValidationRule } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Case } from "../../../../../test/contract/cases/case.ts";
import { catalogue } from "../../../../../test/contract/cases/catalogue.ts";
import { randomCase } from "../../../../../test/contract/cases/random.ts";
import { calculate } from "../../../../../test/contract/oracle/calculate.ts";
import type {
  Expected,
  Figures,
  VectorCatalogue,
  VectorDiscount,
  VectorEntry,
  VectorItem,
  VectorRedeemable,
  VectorRule,
  Vectors,
} from "../../../../../test/contract/vector.ts";
import {
  EMPTY_INPUT,
  buildDiscount,
  buildGiftCard,
  buildLine,
  buildOrder,
  buildVoucher,
  voucherRedeemable,
} from "../../../test/builders.ts";
import { decide } from "../decide.ts";
import { type DecisionRequest } from "../decision/decision-request.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot } from "../input/order.ts";
import type { Redeemable } from "../input/redeemable.ts";
import type { LineFigures, OrderFigures } from "../order/order-figures.ts";
import { DEFAULT_STACKING_RULES } from "../stacking/stacking-rules.ts";

const file = new URL("../../../../../test/contract/money-vectors.json", import.meta.url);
const { vectors, catalogue: kept } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

describe("the engine calculates the golden vectors", () => {
  test.each(vectors.map((vector) => [`${vector.id} (${vector.docs})`, vector] as const))(
    "%s",
    (_name, vector) => {
      expect(calculated(vector, kept)).toEqual(vector.expected);
    },
  );
});

test("the engine agrees with the oracle on any order", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
      const one = randomCase(seed);
      expect(calculated(one, catalogue)).toEqual(calculate(one, catalogue));
    }),
    { numRuns: 200 },
  );
});

function calculated(one: Omit<Case, "id">, known: VectorCatalogue): Expected {
  const request = requestOf(one, known);
  const sent = request.order?.lines ?? [];
  const decision = decide(request);
  if (decision.kind === "malformed") throw new Error(decision.rejection.details);
  const rejected = decision.redeemables.find(({ status }) => status !== "APPLICABLE");
  if (rejected?.status === "INAPPLICABLE") throw new Error(rejected.rejection.details);
  if (!decision.valid || decision.order === null) throw new Error("nothing was calculated");
  const expected = { order: figuresOf(decision.order, sent) };
  if (decision.redeemables.length === 1) return expected;
  const redeemables = decision.redeemables.map((evaluated) => {
    if (evaluated.status !== "APPLICABLE" || evaluated.order === null)
      throw new Error("it was skipped");
    return figuresOf(evaluated.order, sent);
  });
  return { ...expected, redeemables };
}

function requestOf(
  { stacking, redeemables, order }: Omit<Case, "id">,
  known: VectorCatalogue,
): DecisionRequest {
  return {
    ...EMPTY_INPUT,
    redeemables: redeemables.map(redeemableAt),
    order: buildOrder({
      amount: order.amount === undefined ? null : BigInt(order.amount),
      lines: (order.items ?? []).map((item) => lineOf(item, known)),
    }),
    customer: null,
    metadata: {},
    time: { now: Date.UTC(2026, 10, 21), timeZone: "UTC" },
    stacking: {
      ...DEFAULT_STACKING_RULES,
      discountCalculationMode: stacking?.discount_calculation_mode ?? "DISCOUNTED_AMOUNT",
      redeemablesProductsApplicationMode:
        stacking?.redeemables_products_application_mode ?? "STACK",
    },
    catalogue: itemsOf(known),
  };
}

function redeemableAt({ discount, gift, rules = [] }: VectorRedeemable, at: number): Redeemable {
  const parsed = rules.map((rule, index) => ruleOf(rule, `val_${at}_${index}`));
  const common = { id: `v_${at}`, code: `CODE${at}`, rules: parsed };
  if (gift !== undefined) {
    const card = buildGiftCard({
      balance: BigInt(gift.amount),
      effect: gift.effect === "APPLY_TO_ITEMS" ? "APPLY_TO_ITEMS" : null,
    });
    const credits = gift.credits === undefined ? null : BigInt(gift.credits);
    return voucherRedeemable({ ...card, ...common }, { credits });
  }
  if (discount === undefined) throw new Error("a redeemable of nothing");
  const value = { type: "DISCOUNT_VOUCHER" as const, discount: discountOf(discount) };
  return voucherRedeemable(buildVoucher({ ...common, value }));
}

const discountOf = (discount: VectorDiscount) =>
  buildDiscount({
    type: discount.type,
    effect: (discount.effect ?? null) as null,
    percentOff: discount.percent_off === undefined ? null : String(discount.percent_off),
    percentOffFormula: discount.percent_off_formula ?? null,
    amountOff: big(discount.amount_off),
    amountOffFormula: discount.amount_off_formula ?? null,
    fixedAmount: big(discount.fixed_amount),
    amountLimit: big(discount.amount_limit),
    aggregatedAmountLimit: big(discount.aggregated_amount_limit),
    unitOff: big(discount.unit_off),
    unitOffFormula: discount.unit_off_formula ?? null,
    unitType: discount.unit_type ?? null,
    units: (discount.units ?? []).map((unit) => ({
      effect: unit.effect as "ADD_NEW_ITEMS",
      unitOff: BigInt(unit.unit_off),
      unitOffFormula: null,
      unitType: unit.unit_type ?? null,
    })),
  });

function ruleOf({ applicable_to: scope, bundle_rules: bundle }: VectorRule, id: string) {
  const parts = (bundle?.parts ?? []).map((part, at) => [
    String(at + 1),
    {
      name: "order.items.any",
      conditions: { $is: [{ id: part.id, object: part.object }] },
      rules: {
        "1": { name: "order.items.aggregated_quantity", conditions: { $is: [part.quantity] } },
      },
    },
  ]);
  const parsed = parseValidationRule({
    id,
    rules: {},
    bundleRules:
      bundle === undefined ? null : { ...bundleTerms(bundle), ...Object.fromEntries(parts) },
    applicableTo:
      scope === undefined
        ? null
        : {
            included: (scope.included ?? []).map(entryOf),
            excluded: (scope.excluded ?? []).map(entryOf),
            includedAll: scope.included_all ?? false,
          },
    errorMessage: null,
  });
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.rule satisfies ValidationRule;
}

const bundleTerms = ({ limit, multiply }: NonNullable<VectorRule["bundle_rules"]>) => ({
  ...(limit !== undefined && { limit }),
  ...(multiply !== undefined && { multiply }),
});

const entryOf = (entry: VectorEntry) => ({
  object: entry.object,
  id: entry.id,
  sourceId: null,
  productId: null,
  strict: null,
  effect: entry.effect ?? null,
  target: entry.target ?? null,
  skipInitially: big(entry.skip_initially),
  repeat: big(entry.repeat),
  price: big(entry.price),
  priceFormula: null,
  quantityLimit: big(entry.quantity_limit),
  aggregatedQuantityLimit: big(entry.aggregated_quantity_limit),
  amountLimit: big(entry.amount_limit),
  aggregatedAmountLimit: big(entry.aggregated_amount_limit),
  budgets: [],
});

function lineOf(item: VectorItem, known: VectorCatalogue): LineSnapshot {
  const sku = item.sku === undefined ? undefined : known.skus[item.sku.slice(1)];
  const product = item.product ?? sku?.product ?? null;
  const names = [product, item.sku];
  return buildLine({
    productId: product,
    skuId: item.sku ?? null,
    quantity: big(item.quantity),
    amount: big(item.amount),
    prices: {
      line: big(item.price),
      storedSku: big(sku?.price),
      storedProduct: big(known.products[product?.slice(1) ?? ""]?.price),
    },
    collections: collectionsOf(names, known),
  });
}

const collectionsOf = (
  names: readonly (string | null | undefined)[],
  { collections }: VectorCatalogue,
): string[] =>
  Object.entries(collections).flatMap(([name, listed]) =>
    names.some((member) => listed.includes(member ?? "")) ? [`$${name}`] : [],
  );

function itemsOf(known: VectorCatalogue): ReadonlyMap<string, CatalogueItem> {
  const none = { productSourceId: null, skuSourceId: null, name: null, skuLabel: null };
  const data = { productPrice: null, metadata: {}, productMetadata: {}, collections: [] };
  const products = Object.entries(known.products).map(([name, { price }]) => {
    const item = { productId: `$${name}`, skuId: null, price: big(price), ...none, ...data };
    return [`$${name}`, { ...item, collections: collectionsOf([`$${name}`], known) }] as const;
  });
  const skus = Object.entries(known.skus).map(([name, { product, price }]) => {
    const own = big(price) ?? big(known.products[product.slice(1)]?.price);
    const item = { productId: product, skuId: `$${name}`, price: own, ...none, ...data };
    const collections = collectionsOf([product, `$${name}`], known);
    return [`$${name}`, { ...item, collections }] as const;
  });
  return new Map<string, CatalogueItem>([...products, ...skus]);
}

const big = (value: number | undefined): bigint | null =>
  value === undefined ? null : BigInt(value);

/** The order in the format of the vectors. */
const figuresOf = (figures: OrderFigures, sent: readonly LineSnapshot[]): Figures => ({
  amount: Number(figures.amount),
  initial_amount: Number(figures.initialAmount),
  discount_amount: Number(figures.discountAmount),
  items_discount_amount: Number(figures.itemsDiscountAmount),
  total_discount_amount: Number(figures.totalDiscountAmount),
  total_amount: Number(figures.totalAmount),
  applied_discount_amount: Number(figures.appliedDiscountAmount),
  items_applied_discount_amount: Number(figures.itemsAppliedDiscountAmount),
  total_applied_discount_amount: Number(figures.totalAppliedDiscountAmount),
  items: figures.lines.map((line, index) => itemFigures(line, sent[index] ?? line.addedItem)),
});

const itemFigures = (
  line: LineFigures,
  of: Pick<LineSnapshot, "productId" | "skuId"> | null,
): Figures["items"][number] => ({
  ...(of?.productId != null && { product: of.productId }),
  ...(of?.skuId != null && { sku: of.skuId }),
  quantity: Number(line.quantity),
  initial_quantity: Number(line.initialQuantity),
  discount_quantity: Number(line.discountQuantity),
  ...(line.price !== null && { price: Number(line.price) }),
  amount: Number(line.amount),
  initial_amount: Number(line.initialAmount),
  discount_amount: Number(line.discountAmount),
  subtotal_amount: Number(line.subtotalAmount),
  applied_discount_amount: Number(line.appliedDiscountAmount),
  applied_discount_quantity: Number(line.appliedDiscountQuantity),
  applied_quantity: Number(line.appliedQuantity),
  applied_quantity_amount: Number(line.appliedQuantityAmount),
});
