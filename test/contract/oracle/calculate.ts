import type { Expected, Figures, Vector, VectorCatalogue, VectorDiscount } from "../vector.ts";
import { bundlesIn } from "./bundles.ts";
import { formulaValue } from "./formulas.ts";
import { type Fraction, atMost, fraction, halfUp, times } from "./fractions.ts";
import { type OracleLine, type OracleOrder, figuresOf, openOrder, total } from "./order.ts";
import { type Picked, pick } from "./selection.ts";
import { split } from "./split.ts";
import { giveUnits } from "./units.ts";

/**
 * A second, simple implementation of docs/order-calculation.md, which computes the expected results. It
 * shares no code with the engine, counts units one by one, and calculates with fractions.
 */
export function calculate(
  vector: Pick<Vector, "stacking" | "redeemables" | "order">,
  catalogue: VectorCatalogue,
): Expected {
  const start = openOrder(vector.order, catalogue);
  const redeemables: Figures[] = [];
  let order = start;
  for (const redeemable of vector.redeemables) {
    const before = order;
    order = structuredClone(before);
    const rules = redeemable.rules ?? [];
    const once = vector.stacking?.redeemables_products_application_mode === "ONCE";
    const terms: Terms = {
      rules,
      start: once ? start : null,
      bundles: bundlesIn(before, rules, catalogue),
      ofInitial: vector.stacking?.discount_calculation_mode === "INITIAL_AMOUNT",
      catalogue,
    };
    if (redeemable.discount !== undefined) applyDiscount(order, redeemable.discount, terms);
    if (redeemable.gift !== undefined) spend(order, redeemable.gift, terms);
    redeemables.push(figuresOf(before, order));
  }
  const expected = { order: figuresOf(start, order) };
  return redeemables.length > 1 ? { ...expected, redeemables } : expected;
}

export type Terms = {
  readonly rules: NonNullable<Vector["redeemables"][number]["rules"]>;
  /** Set in mode ONCE: the order before all redeemables. */
  readonly start: OracleOrder | null;
  /** Multiplier: 1 without bundles. */
  readonly bundles: bigint;
  readonly ofInitial: boolean;
  readonly catalogue: VectorCatalogue;
};

function applyDiscount(order: OracleOrder, discount: VectorDiscount, terms: Terms): void {
  const limitsProducts = terms.rules.some(
    ({ applicable_to: scope }) =>
      (scope?.included ?? []).length > 0 || (scope?.excluded ?? []).length > 0,
  );
  const effect = discount.effect ?? (limitsProducts ? "APPLY_TO_ITEMS" : "APPLY_TO_ORDER");
  if (discount.type === "UNIT") giveUnits(order, discount, terms);
  else if (effect === "APPLY_TO_ORDER") discountOrder(order, discount, terms);
  else if (effect.includes("PROPORTIONALLY")) splitOver(order, discount, { ...terms, effect });
  else discountItems(order, discount, { ...terms, effect });
}

/** The value of the discount: the formula's result, or the static value. Amounts are minor units. */
function valueOf(order: OracleOrder, discount: VectorDiscount): Fraction {
  if (discount.type === "PERCENT") {
    const result = formulaValue(discount.percent_off_formula, order);
    const percent = result ?? fraction(String(discount.percent_off));
    return atMost(percent, fraction("100"));
  }
  const result = formulaValue(discount.amount_off_formula, order);
  if (result !== null) return { n: halfUp(times(result, fraction("100"))), d: 1n };
  return { n: BigInt(discount.amount_off ?? discount.fixed_amount ?? 0), d: 1n };
}

/** Order-level discount: PERCENT of the remaining amount (or of A), AMOUNT, or FIXED. */
function discountOrder(order: OracleOrder, discount: VectorDiscount, terms: Terms): void {
  const value = valueOf(order, discount);
  const n = discount.type === "FIXED" ? 1n : terms.bundles;
  const bundled = { n: value.n * n, d: value.d };
  const left = total(order);
  let off: bigint;
  if (discount.type === "PERCENT") {
    const base = terms.ofInitial ? order.amount : left;
    const percent = atMost(bundled, fraction("100"));
    off = halfUp({ n: base * percent.n, d: percent.d * 100n });
  } else if (discount.type === "AMOUNT") off = bundled.n;
  else off = left > value.n ? left - value.n : 0n;
  for (const limit of [discount.amount_limit, discount.aggregated_amount_limit]) {
    if (limit !== undefined) off = smaller(off, BigInt(limit) * n);
  }
  order.discount += smaller(off, left);
}

type ItemTerms = Terms & { readonly effect: string };

function discountItems(order: OracleOrder, discount: VectorDiscount, terms: ItemTerms): void {
  const percent = discount.type === "PERCENT";
  const picks = pick(order, { ...terms, unitTimes: percent ? 1n : terms.bundles });
  const value = valueOf(order, discount);
  const sumLimits = [discount.aggregated_amount_limit];
  if (discount.type === "AMOUNT") sumLimits.push(discount.amount_limit);
  serve(order, picks, {
    limits: sumLimits,
    worth: (line, picked) => worthOf(line, picked, { ...terms, discount, value }),
  });
}

function worthOf(
  line: OracleLine,
  picked: Picked,
  {
    discount,
    value,
    bundles,
    effect,
    ofInitial,
  }: ItemTerms & { discount: VectorDiscount; value: Fraction },
): bigint {
  const k = picked.units;
  const rest = line.amount - line.discount;
  // An effect on a line without units applies to the whole line.
  const part = (amount: bigint): Fraction =>
    k >= line.quantity ? { n: amount, d: 1n } : { n: amount * k, d: line.quantity };
  if (discount.type === "PERCENT") {
    const base = part(ofInitial ? line.amount : rest);
    const rate = atMost({ n: value.n * bundles, d: value.d }, fraction("100"));
    const off = halfUp({ n: base.n * rate.n, d: base.d * rate.d * 100n });
    return discount.amount_limit === undefined
      ? off
      : smaller(off, BigInt(discount.amount_limit) * bundles);
  }
  if (discount.type === "FIXED") {
    const price = picked.entry?.price === undefined ? value.n : BigInt(picked.entry.price);
    const off = halfUp(part(rest)) - price * k;
    return off > 0n ? off : 0n;
  }
  if (effect === "APPLY_TO_ITEMS") return value.n * bundles;
  return (line.price === null ? value.n : smaller(value.n, line.price)) * k;
}

/** Line by line, until limits on sums are exhausted. */
function serve(
  order: OracleOrder,
  picks: readonly Picked[],
  {
    limits,
    worth,
  }: {
    limits: readonly (number | undefined)[];
    worth: (line: OracleLine, picked: Picked) => bigint;
  },
): void {
  const served = new Map<unknown, bigint>();
  let sum = 0n;
  for (const picked of picks) {
    const line = order.lines[picked.line]!;
    const { entry } = picked;
    let off = smaller(worth(line, picked), smaller(line.amount - line.discount, total(order)));
    for (const limit of limits) if (limit !== undefined) off = smaller(off, BigInt(limit) - sum);
    if (entry?.amount_limit !== undefined) off = smaller(off, BigInt(entry.amount_limit));
    if (entry?.aggregated_amount_limit !== undefined) {
      off = smaller(off, BigInt(entry.aggregated_amount_limit) - (served.get(entry) ?? 0n));
    }
    line.discount += off;
    sum += off;
    served.set(entry, (served.get(entry) ?? 0n) + off);
    if (off > 0n && picked.units < line.quantity) line.discountQuantity += picked.units;
  }
}

function splitOver(order: OracleOrder, discount: VectorDiscount, terms: ItemTerms): void {
  const picks = pick(order, { ...terms, unitTimes: terms.bundles });
  const entrySums = new Map<unknown, bigint>();
  const parts = picks.map((picked) => {
    const line = order.lines[picked.line]!;
    const { entry, units } = picked;
    const share = (amount: bigint): Fraction =>
      units >= line.quantity ? { n: amount, d: 1n } : { n: amount * units, d: line.quantity };
    let cap = halfUp(share(line.amount - line.discount));
    if (entry?.amount_limit !== undefined) cap = smaller(cap, BigInt(entry.amount_limit));
    const weight =
      terms.effect === "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY"
        ? { n: units, d: 1n }
        : share(terms.ofInitial ? line.amount : line.amount - line.discount);
    if (entry?.aggregated_amount_limit !== undefined && weight.n > 0n) {
      cap = smaller(cap, BigInt(entry.aggregated_amount_limit) - (entrySums.get(entry) ?? 0n));
      entrySums.set(entry, (entrySums.get(entry) ?? 0n) + cap);
    }
    return { line: picked.line, cap, weight, units };
  });
  let amount = smaller(valueOf(order, discount).n * terms.bundles, total(order));
  for (const limit of [discount.amount_limit, discount.aggregated_amount_limit]) {
    if (limit !== undefined) amount = smaller(amount, BigInt(limit));
  }
  for (const [line, off] of split(amount, parts)) {
    const state = order.lines[line]!;
    const units = parts.find((part) => part.line === line)!.units;
    state.discount += off;
    if (off > 0n && units < state.quantity) state.discountQuantity += units;
  }
}

/** A gift card pays for the order, or for the lines one after the other. */
function spend(
  order: OracleOrder,
  gift: NonNullable<Vector["redeemables"][number]["gift"]>,
  terms: Terms,
): void {
  const credits = smaller(BigInt(gift.credits ?? gift.amount), total(order));
  if (gift.effect !== "APPLY_TO_ITEMS") {
    order.discount += credits;
    return;
  }
  const picks = pick(order, { ...terms, unitTimes: terms.bundles });
  serve(order, picks, {
    limits: [Number(credits)],
    worth: (line, { units }) => {
      const rest = line.amount - line.discount;
      return units >= line.quantity ? rest : halfUp({ n: rest * units, d: line.quantity });
    },
  });
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
