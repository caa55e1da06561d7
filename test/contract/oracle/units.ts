import type { VectorDiscount } from "../vector.ts";
import { formulaValue } from "./formulas.ts";
import { floor } from "./fractions.ts";
import { type OracleLine, type OracleOrder, total } from "./order.ts";
import { type PickTerms, pick } from "./selection.ts";

type UnitTerms = Omit<PickTerms, "unitTimes"> & { readonly bundles: bigint };

/** See docs/order-calculation.md#free-units and docs/order-calculation.md#replaced-items. */
export function giveUnits(order: OracleOrder, discount: VectorDiscount, terms: UnitTerms): void {
  const picks = pick(order, { ...terms, unitTimes: terms.bundles });
  const gifts = discount.units ?? [{ ...discount, effect: discount.effect ?? "ADD_MISSING_ITEMS" }];
  const before = structuredClone(order);
  for (const gift of gifts) {
    const result = formulaValue(
      "unit_off_formula" in gift ? gift.unit_off_formula : undefined,
      before,
    );
    const k = result === null ? BigInt(gift.unit_off ?? 0) : floor(result);
    const n = k * terms.bundles;
    const type = gift.unit_type ?? "";
    if (gift.effect === "ADD_NEW_ITEMS" && n > 0n) {
      const line = add(order, type, n, terms);
      free(order, line, n);
    } else if (gift.effect === "ADD_MISSING_ITEMS") {
      addMissing(order, type, n, terms);
    } else if (gift.effect === "ADD_SAME_ITEMS") {
      for (const { line } of picks) {
        if (n === 0n) continue;
        grow(order, order.lines[line]!, n);
        free(order, order.lines[line]!, n);
      }
    } else if (gift.effect === "REPLACE_ITEMS" && k > 0n) {
      for (const { line, units } of picks) {
        if (carriers(order, type).includes(order.lines[line]!)) continue;
        replace(order, { source: order.lines[line]!, units, type, k }, terms);
      }
    }
  }
}

/** The lines that match the unit type. */
const carriers = (order: OracleOrder, type: string): OracleLine[] =>
  order.lines.filter((line) => line.sku === type || (line.sku === null && line.product === type));

function add(order: OracleOrder, type: string, units: bigint, terms: UnitTerms): OracleLine {
  let [line] = carriers(order, type);
  if (line === undefined) {
    line = newLine(type, terms);
    order.lines.push(line);
  }
  grow(order, line, units);
  return line;
}

function newLine(type: string, { catalogue }: UnitTerms): OracleLine {
  const name = type.slice(1);
  const sku = catalogue.skus[name];
  const product = sku === undefined ? type : sku.product;
  const price = sku?.price ?? catalogue.products[product.slice(1)]?.price;
  return {
    product,
    sku: sku === undefined ? null : type,
    price: price === undefined ? null : BigInt(price),
    quantity: 0n,
    initialQuantity: 0n,
    amount: 0n,
    initialAmount: 0n,
    discount: 0n,
    discountQuantity: 0n,
  };
}

function grow(order: OracleOrder, line: OracleLine, units: bigint): void {
  const amount = units * (line.price ?? 0n);
  line.quantity += units;
  line.amount += amount;
  order.amount += amount;
}

function free(order: OracleOrder, line: OracleLine, units: bigint): void {
  const off = [units * (line.price ?? 0n), line.amount - line.discount, total(order)];
  line.discount += off.reduce((a, b) => (a < b ? a : b));
  line.discountQuantity += units;
}

function addMissing(order: OracleOrder, type: string, units: bigint, terms: UnitTerms): void {
  let present = 0n;
  for (const line of carriers(order, type)) present += line.quantity;
  if (units > present) add(order, type, units - present, terms);
  let left = units;
  for (const line of carriers(order, type)) {
    // Unit by unit, while the remaining amount of the line covers one.
    let rest = line.amount - line.discount;
    let take = 0n;
    for (let unit = 0n; unit < line.quantity && left > 0n; unit += 1n) {
      const isFree = line.price === null || line.price === 0n;
      if (isFree ? unit >= line.quantity - line.discountQuantity : rest <= 0n) break;
      take += 1n;
      left -= 1n;
      rest -= line.price ?? 0n;
    }
    if (take > 0n) free(order, line, take);
  }
}

type Replacing = {
  readonly source: OracleLine;
  readonly units: bigint;
  readonly type: string;
  readonly k: bigint;
};

/** Replaces units one by one, while neither line nor order falls below its discounts. */
function replace(
  order: OracleOrder,
  { source, units, type, k }: Replacing,
  terms: UnitTerms,
): void {
  const [carrier] = carriers(order, type);
  const target = carrier ?? newLine(type, terms);
  if (source.price === null || target.price === null) return;
  let r = 0n;
  while (r < units && r < source.quantity) {
    const next = r + 1n;
    const lost = next * source.price;
    const gained = next * k * target.price;
    if (source.amount - lost < source.discount) break;
    if (source.price === 0n && next > source.quantity - source.discountQuantity) break;
    if (total(order) - lost + (gained < lost ? gained : lost) < 0n) break;
    r = next;
  }
  if (r === 0n) return;
  if (carrier === undefined) order.lines.push(target);
  grow(order, source, -r);
  grow(order, target, r * k);
  const dearer = r * k * target.price - r * source.price;
  if (dearer > 0n) {
    target.discount += dearer;
    target.discountQuantity += r * k;
  }
}
