import type { VectorCatalogue, VectorEntry, VectorRule } from "../vector.ts";
import type { OracleLine, OracleOrder } from "./order.ts";

/** Units of a line that an effect applies to. */
export type Picked = {
  readonly line: number;
  readonly units: bigint;
  readonly entry: VectorEntry | null;
};

export type PickTerms = {
  readonly rules: readonly VectorRule[];
  /** Mode ONCE: lines that differ from these have been changed. */
  readonly start: OracleOrder | null;
  /** Multiplier of limits on units. */
  readonly unitTimes: bigint;
  readonly catalogue: VectorCatalogue;
};

/** Implements docs/order-calculation.md#selecting-lines-and-units unit by unit. */
export function pick(order: OracleOrder, terms: PickTerms): Picked[] {
  const { rules, catalogue } = terms;
  const included = rules.flatMap(({ applicable_to: scope }) => scope?.included ?? []);
  const excluded = rules.flatMap(({ applicable_to: scope }) => scope?.excluded ?? []);
  const all =
    included.length === 0 || rules.some(({ applicable_to: scope }) => scope?.included_all === true);

  const members = new Map<VectorEntry | null, number[]>([[null, []]]);
  for (const entry of included) members.set(entry, []);
  for (const [index, line] of order.lines.entries()) {
    if (excluded.some((entry) => matches(entry, line, catalogue))) continue;
    if (terms.start !== null && wasTouched(terms.start.lines[index], line)) continue;
    const entry = mostSpecific(included, line, catalogue);
    if (entry !== undefined) members.get(entry)!.push(index);
    else if (all) members.get(null)!.push(index);
  }

  const inRequestOrder: Picked[] = [];
  const byPrice: Picked[] = [];
  for (const [entry, lines] of members) {
    const picked = limited(applied(order, entry, lines), entry, terms.unitTimes);
    const isEvery = entry === null || (entry.effect ?? "APPLY_TO_EVERY") === "APPLY_TO_EVERY";
    (isEvery ? inRequestOrder : byPrice).push(...picked);
  }
  inRequestOrder.sort((a, b) => a.line - b.line);
  return [...inRequestOrder, ...byPrice];
}

function mostSpecific(
  included: readonly VectorEntry[],
  line: OracleLine,
  catalogue: VectorCatalogue,
): VectorEntry | undefined {
  for (const object of ["sku", "product", "products_collection"]) {
    const found = included.find(
      (entry) => entry.object === object && matches(entry, line, catalogue),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

export function matches(
  { object, id }: Pick<VectorEntry, "object" | "id">,
  { product, sku }: Pick<OracleLine, "product" | "sku">,
  catalogue: VectorCatalogue,
): boolean {
  if (object === "product") return product === id;
  if (object === "sku") return sku === id;
  const listed = catalogue.collections[id.slice(1)] ?? [];
  return (product !== null && listed.includes(product)) || (sku !== null && listed.includes(sku));
}

const wasTouched = (before: OracleLine | undefined, line: OracleLine): boolean =>
  before === undefined ||
  before.discount !== line.discount ||
  before.discountQuantity !== line.discountQuantity ||
  before.quantity !== line.quantity;

/** The lines that the application rule of an entry selects. */
function applied(
  order: OracleOrder,
  entry: VectorEntry | null,
  lines: readonly number[],
): Picked[] {
  const effect = entry?.effect ?? "APPLY_TO_EVERY";
  let sorted = [...lines];
  if (effect !== "APPLY_TO_EVERY") {
    const sign = effect.endsWith("CHEAPEST") ? 1 : -1;
    sorted = sorted.filter((index) => order.lines[index]!.quantity > 0n);
    sorted.sort((a, b) => byPriceOf(order.lines[a]!, order.lines[b]!, sign) || a - b);
  }
  const onlyOne = effect === "APPLY_TO_CHEAPEST" || effect === "APPLY_TO_MOST_EXPENSIVE";
  const skip = entry?.skip_initially ?? 0;
  const repeat = entry?.repeat ?? 1;
  const isChosen = (position: number): boolean =>
    onlyOne ? position === 1 : position > skip && (position - skip - 1) % repeat === 0;

  if (entry?.target !== "UNIT") {
    return sorted
      .filter((_, at) => isChosen(at + 1))
      .map((line) => ({ line, units: order.lines[line]!.quantity, entry }));
  }
  const picked: Picked[] = [];
  let position = 0;
  for (const line of sorted) {
    let units = 0n;
    for (let unit = 0n; unit < order.lines[line]!.quantity; unit += 1n) {
      position += 1;
      if (isChosen(position)) units += 1n;
    }
    if (units > 0n) picked.push({ line, units, entry });
  }
  return picked;
}

function byPriceOf(a: OracleLine, b: OracleLine, sign: number): number {
  if (a.price === null && b.price === null) return 0;
  if (a.price === null) return 1;
  if (b.price === null) return -1;
  if (a.price !== b.price) return Number(a.price - b.price) * sign;
  return Number(a.amount - a.discount - (b.amount - b.discount));
}

/** Takes the first units. */
function limited(
  picked: readonly Picked[],
  entry: VectorEntry | null,
  unitTimes: bigint,
): Picked[] {
  const ofLine = entry?.quantity_limit;
  const ofAll = entry?.aggregated_quantity_limit;
  let left = ofAll === undefined ? null : BigInt(ofAll) * unitTimes;
  return picked.flatMap((one) => {
    let units = one.units;
    if (ofLine !== undefined && units > BigInt(ofLine) * unitTimes) {
      units = BigInt(ofLine) * unitTimes;
    }
    if (left !== null && units > left) units = left;
    if (left !== null) left -= units;
    return units === 0n && one.units > 0n ? [] : [{ ...one, units }];
  });
}
