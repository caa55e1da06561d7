import { bundlesIn } from "../oracle/bundles.ts";
import { openOrder } from "../oracle/order.ts";
import type {
  VectorDiscount,
  VectorEntry,
  VectorItem,
  VectorRedeemable,
  VectorRule,
} from "../vector.ts";
import type { Case } from "./case.ts";
import { catalogue } from "./catalogue.ts";

/** Generates a random case, which is the same for the same seed on any machine. */
export function randomCase(seed: number): Case {
  const dice = diceOf(seed);
  const items = times(dice.upTo(5) + 1, () => randomItem(dice));
  const redeemables = times(dice.upTo(2) + 1, () => randomRedeemable(dice, items));
  // A gift card requires an order amount.
  const declares = dice.chance(8) || redeemables.some(({ gift }) => gift !== undefined);
  const order = declares ? { amount: dice.upTo(30_000), items } : { items };
  return {
    id: `random-${seed}`,
    docs: "docs/order-calculation.md",
    title: redeemables.map(({ discount, gift }) => (gift ? "GIFT" : nameOf(discount))).join(", "),
    ...(dice.chance(4) && { stacking: { discount_calculation_mode: "INITIAL_AMOUNT" } as const }),
    ...(dice.chance(6) && {
      stacking: { redeemables_products_application_mode: "ONCE" } as const,
    }),
    redeemables,
    order,
  };
}

const nameOf = (discount: VectorDiscount | undefined): string =>
  `${discount?.type} ${discount?.effect ?? ""}`.trim();

type Dice = {
  /** An integer from 0 to `most`, inclusive. */
  readonly upTo: (most: number) => number;
  /** True with a probability of 1 in `often`. */
  readonly chance: (often: number) => boolean;
  readonly of: <Value>(values: readonly Value[]) => Value;
};

/** The Mulberry32 generator. */
function diceOf(seed: number): Dice {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const upTo = (most: number): number => next() % (most + 1);
  return {
    upTo,
    chance: (often) => upTo(often - 1) === 0,
    of: (values) => values[upTo(values.length - 1)]!,
  };
}

const times = <Value>(count: number, make: () => Value): Value[] =>
  Array.from({ length: count }, make);

const PRODUCTS = ["$mug", "$poster", "$tshirt", "$bottle", "$socks", "$vase", "$cable", "$sticker"];
const SKUS = ["$tshirt_s", "$tshirt_l", "$mug_red"];

function randomItem(dice: Dice): VectorItem {
  const named = dice.chance(4) ? { sku: dice.of(SKUS) } : { product: dice.of(PRODUCTS) };
  return {
    ...named,
    quantity: dice.upTo(6) + (dice.chance(12) ? 0 : 1),
    ...(dice.chance(5) && { price: dice.upTo(2500) }),
    ...(dice.chance(9) && { amount: dice.upTo(6000) }),
  };
}

function randomRedeemable(dice: Dice, items: readonly VectorItem[]): VectorRedeemable {
  const rules = randomRules(dice, items);
  const ruled = rules.length > 0 && { rules };
  if (dice.chance(10)) return { gift: { amount: dice.upTo(9000) }, ...ruled };
  return { discount: randomDiscount(dice), ...ruled };
}

function randomDiscount(dice: Dice): VectorDiscount {
  const limits = {
    ...(dice.chance(4) && { amount_limit: dice.upTo(900) }),
    ...(dice.chance(4) && { aggregated_amount_limit: dice.upTo(2000) }),
  };
  const effects = ["APPLY_TO_ORDER", "APPLY_TO_ITEMS", "APPLY_TO_ITEMS"];
  switch (dice.upTo(4)) {
    case 0:
      return {
        type: "PERCENT",
        percent_off: dice.upTo(1000) / 10,
        effect: dice.of(effects),
        ...limits,
        ...(dice.chance(6) && { percent_off_formula: "IF(ORDER_AMOUNT > 300; 15; 5)" }),
      };
    case 1:
      return { type: "FIXED", fixed_amount: dice.upTo(2500), effect: dice.of(effects), ...limits };
    case 2:
      return randomUnits(dice);
    default:
      return {
        type: "AMOUNT",
        amount_off: dice.upTo(4000),
        effect: dice.of([
          ...effects,
          "APPLY_TO_ITEMS_BY_QUANTITY",
          "APPLY_TO_ITEMS_PROPORTIONALLY",
          "APPLY_TO_ITEMS_PROPORTIONALLY",
          "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
        ]),
        ...limits,
        ...(dice.chance(8) && { amount_off_formula: "ORDER_AMOUNT / 3" }),
      };
  }
}

function randomUnits(dice: Dice): VectorDiscount {
  const unit = () => ({
    unit_off: dice.upTo(4),
    unit_type: dice.of([...PRODUCTS, ...SKUS]),
  });
  const effect = dice.of(["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS", "ADD_SAME_ITEMS", "REPLACE_ITEMS"]);
  if (!dice.chance(4)) return { type: "UNIT", effect, ...unit() };
  return {
    type: "UNIT",
    effect: "ADD_MANY_ITEMS",
    units: [
      { effect, ...unit() },
      { effect: "ADD_MISSING_ITEMS", ...unit() },
    ],
  };
}

function randomRules(dice: Dice, items: readonly VectorItem[]): VectorRule[] {
  return times(dice.upTo(2), (): VectorRule => {
    const rule: VectorRule = {
      ...(!dice.chance(5) && {
        applicable_to: {
          included: times(dice.upTo(3), () => randomEntry(dice)),
          excluded: dice.chance(3) ? [namedEntry(dice)] : [],
          ...(dice.chance(5) && { included_all: true }),
        },
      }),
      ...(dice.chance(5) && {
        bundle_rules: {
          limit: dice.upTo(3) + 1,
          ...(dice.chance(4) && { multiply: false }),
          parts: times(dice.upTo(1) + 1, () => ({
            ...namedEntry(dice),
            quantity: dice.upTo(1) + 1,
          })),
        },
      }),
    };
    // A redeemable without a complete bundle does not apply, so nothing is calculated.
    const { bundle_rules: bundle, ...rest } = rule;
    if (bundle === undefined) return rule;
    const found = bundlesIn(
      openOrder({ items }, catalogue),
      [{ bundle_rules: { ...bundle, multiply: true } }],
      catalogue,
    );
    return found > 0n ? rule : rest;
  });
}

const namedEntry = (dice: Dice): Pick<VectorEntry, "object" | "id"> =>
  dice.of([
    { object: "product" as const, id: dice.of(PRODUCTS) },
    { object: "sku" as const, id: dice.of(SKUS) },
    { object: "products_collection" as const, id: dice.of(["$adventure", "$clothes_and_more"]) },
    { object: "products_collection" as const, id: "$large" },
  ]);

function randomEntry(dice: Dice): VectorEntry {
  const effects = [
    "APPLY_TO_EVERY",
    "APPLY_TO_CHEAPEST",
    "APPLY_FROM_CHEAPEST",
    "APPLY_TO_MOST_EXPENSIVE",
    "APPLY_FROM_MOST_EXPENSIVE",
  ];
  return {
    ...namedEntry(dice),
    ...(dice.chance(2) && { effect: dice.of(effects) }),
    ...(dice.chance(3) && { target: "UNIT" as const }),
    ...(dice.chance(4) && { skip_initially: dice.upTo(2) }),
    ...(dice.chance(4) && { repeat: dice.upTo(2) + 1 }),
    ...(dice.chance(6) && { price: dice.upTo(1500) }),
    ...(dice.chance(5) && { quantity_limit: dice.upTo(3) }),
    ...(dice.chance(5) && { aggregated_quantity_limit: dice.upTo(6) }),
    ...(dice.chance(6) && { amount_limit: dice.upTo(900) }),
    ...(dice.chance(6) && { aggregated_amount_limit: dice.upTo(1800) }),
  };
}
