import {
  type FormulaScope,
  type KnownValue,
  type Metadata,
  type Moment,
  countValue,
  dateValue,
  moneyValue,
  parseDay,
} from "@scrip/rules";

import type { CustomerFacts, LineFacts, OrderFacts, VoucherFacts } from "./facts.ts";
import { sumOf } from "./minor-units.ts";
import { type LineState, type OrderState, subtotalAmount } from "./order.ts";

export type ScopeContext = {
  readonly moment: Moment;
  readonly order: OrderFacts | null;
  readonly customer: CustomerFacts | null;
  readonly metadata: Metadata;
};

type Facts = ScopeContext & { readonly voucher: VoucherFacts; readonly state: OrderState };

type Line = { readonly state: LineState; readonly facts: LineFacts | undefined };

/**
 * What the names in the formula of a voucher mean, for the line that is being discounted or for the
 * order; spec/validation-and-redemption.md §2.3. A line at the extreme price is looked for once.
 */
export function formulaScopes(
  voucher: VoucherFacts,
  state: OrderState,
  context: ScopeContext,
): (line: number | null) => FormulaScope {
  const facts: Facts = { ...context, voucher, state };
  const extremes = new Map<string, Line | null>();
  const pickLine = (which: string, line: number | null): Line | null => {
    if (which === "") return line === null ? null : lineAt(facts, line);
    const known = extremes.get(which);
    if (known !== undefined) return known;
    const found = findExtreme(facts, which === "CHEAPEST_" ? -1n : 1n);
    extremes.set(which, found);
    return found;
  };
  return (line) => ({
    moment: context.moment,
    operand: (name) => {
      const part = LINE_NAME.exec(name);
      if (part === null) return OPERANDS.get(name)?.(facts) ?? null;
      const [, which = "", what = ""] = part;
      const read = LINE_OPERANDS.get(what);
      const picked = read && pickLine(which, line);
      return picked ? read(picked) : null;
    },
    metadata: (name) => {
      const part = LINE_NAME.exec(name);
      if (part === null) return METADATA.get(name)?.(facts) ?? null;
      const [, which = "", what = ""] = part;
      const read = LINE_METADATA.get(what);
      const picked = read && pickLine(which, line);
      return picked?.facts === undefined || read === undefined ? null : read(picked.facts);
    },
  });
}

const LINE_NAME = /^(CHEAPEST_|MOST_EXPENSIVE_|)ORDER_ITEM_([A-Z_]+)$/;

/** There are no bundles yet, and an order without any counts once. */
const BUNDLES = 1n;

const OPERANDS: ReadonlyMap<string, (facts: Facts) => KnownValue | null> = new Map<
  string,
  (facts: Facts) => KnownValue | null
>([
  ["ORDER_AMOUNT", ({ state }) => (state.hasAmount ? moneyValue(state.amount) : null)],
  ["ORDER_ITEMS_QUANTITY", ({ order, state }) => order && countOf(state.lines.length)],
  [
    "ORDER_UNITS_QUANTITY",
    ({ order, state }) => order && countValue(sumOf(state.lines, (line) => line.quantity)),
  ],
  ["ORDER_BUNDLE_QUANTITY", () => countValue(BUNDLES)],
  [
    "VOUCHER_REDEMPTION_QUANTITY",
    ({ voucher }) => (voucher.quantity === null ? null : countValue(voucher.quantity)),
  ],
  ["VOUCHER_REDEEMED_QUANTITY", ({ voucher }) => countValue(voucher.redeemedQuantity)],
  ["VOUCHER_PUBLISH_COUNT", ({ voucher }) => countValue(voucher.publishCount)],
  ["VOUCHER_START_DATE", ({ voucher }) => dateOf(voucher.validity.startDate)],
  ["VOUCHER_EXPIRATION_DATE", ({ voucher }) => dateOf(voucher.validity.expirationDate)],
  [
    "CUSTOMER_BIRTHDATE",
    ({ customer, moment }) => dateOf(parseDay(customer?.birthdate ?? "", moment.timeZone) ?? null),
  ],
]);

/** Those of publications and promotion tiers have no value before these exist. */
const METADATA: ReadonlyMap<string, (facts: Facts) => Metadata | null> = new Map<
  string,
  (facts: Facts) => Metadata | null
>([
  ["ORDER_METADATA", ({ order }) => order?.metadata ?? null],
  ["CUSTOMER_METADATA", ({ customer }) => customer?.metadata ?? null],
  ["REDEMPTION_METADATA", ({ metadata }) => metadata],
  ["REDEEMABLE_METADATA", ({ voucher }) => voucher.metadata],
]);

const LINE_OPERANDS: ReadonlyMap<string, (line: Line) => KnownValue | null> = new Map<
  string,
  (line: Line) => KnownValue | null
>([
  ["PRICE", ({ state }) => (state.price === null ? null : moneyValue(state.price))],
  ["AMOUNT", ({ state }) => moneyValue(state.amount)],
  ["SUBTOTAL", ({ state }) => moneyValue(subtotalAmount(state))],
  ["UNITS_QUANTITY", ({ state }) => countValue(state.quantity)],
]);

const LINE_METADATA: ReadonlyMap<string, (line: LineFacts) => Metadata> = new Map<
  string,
  (line: LineFacts) => Metadata
>([
  ["METADATA", (line) => line.metadata],
  ["PRODUCT_METADATA", (line) => line.productMetadata],
]);

const countOf = (count: number): KnownValue => countValue(BigInt(count));

const dateOf = (instant: number | null): KnownValue | null =>
  instant === null ? null : dateValue(instant);

function lineAt({ state, order }: Facts, index: number): Line | null {
  const line = state.lines[index];
  return line === undefined ? null : { state: line, facts: order?.lines[index] };
}

/** Of lines at the same price the one with the lowest subtotal, then the first. */
function findExtreme(facts: Facts, sign: 1n | -1n): Line | null {
  let found: { readonly index: number; readonly rank: readonly [bigint, bigint] } | null = null;
  for (const [index, line] of facts.state.lines.entries()) {
    if (line.price === null) continue;
    const rank = [line.price * -sign, subtotalAmount(line)] as const;
    if (found === null || comesBefore(rank, found.rank)) found = { index, rank };
  }
  return found && lineAt(facts, found.index);
}

const comesBefore = (
  [price, subtotal]: readonly [bigint, bigint],
  [otherPrice, otherSubtotal]: readonly [bigint, bigint],
): boolean => price < otherPrice || (price === otherPrice && subtotal < otherSubtotal);
