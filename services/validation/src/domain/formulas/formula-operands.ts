import {
  type FormulaScope,
  type KnownValue,
  type Metadata,
  type TimeContext,
  countValue,
  dateValue,
  moneyValue,
  parseDay,
} from "@scrip/rules";

import type { CustomerSnapshot } from "../input/customer.ts";
import type { OrderSnapshot } from "../input/order.ts";
import type { Subject } from "../input/subject.ts";
import type { TierSnapshot, VoucherSnapshot } from "../input/voucher.ts";
import { sumOf } from "../order/minor-units.ts";
import { type LineState, type OrderState, subtotalAmount } from "../order/order-state.ts";

export type FormulaContext = {
  readonly time: TimeContext;
  readonly order: OrderSnapshot | null;
  readonly customer: CustomerSnapshot | null;
  readonly metadata: Metadata;
};

export type FormulaSubject = {
  readonly subject: Subject;
  readonly state: OrderState;
  /** Number of bundles in the order; one without bundle rules. */
  readonly bundles: bigint;
};

type OperandSource = FormulaContext & FormulaSubject;

/**
 * Returns the operands of formulas, for the discounted line or for the order. The cheapest and the
 * most expensive line are determined once. docs/formulas.md#operands
 */
export function formulaScopes(
  subject: FormulaSubject,
  context: FormulaContext,
): (line: number | null) => FormulaScope {
  const source: OperandSource = { ...context, ...subject };
  const { lines } = subject.state;
  const extremes = new Map<string, LineState | null>();
  const pickLine = (which: string, line: number | null): LineState | null => {
    if (which === "") return line === null ? null : (lines[line] ?? null);
    const cached = extremes.get(which);
    if (cached !== undefined) return cached;
    const found = findExtreme(lines, which === "CHEAPEST_" ? -1n : 1n);
    extremes.set(which, found);
    return found;
  };
  return (line) => ({
    time: context.time,
    operand: (name) => {
      const part = LINE_NAME.exec(name);
      if (part === null) return OPERANDS.get(name)?.(source) ?? null;
      const [, which = "", what = ""] = part;
      const read = LINE_OPERANDS.get(what);
      const picked = read && pickLine(which, line);
      return picked ? read(picked) : null;
    },
    metadata: (name) => {
      const part = LINE_NAME.exec(name);
      if (part === null) return METADATA.get(name)?.(source) ?? null;
      const [, which = "", what = ""] = part;
      const read = LINE_METADATA.get(what);
      const picked = read && pickLine(which, line);
      return picked ? read(picked) : null;
    },
  });
}

const LINE_NAME = /^(CHEAPEST_|MOST_EXPENSIVE_|)ORDER_ITEM_([A-Z_]+)$/;

type Operand = (source: OperandSource) => KnownValue | null;

function voucherOperand(read: (voucher: VoucherSnapshot) => KnownValue | null): Operand {
  return ({ subject }) => (subject.kind === "voucher" ? read(subject.snapshot) : null);
}

function tierOperand(read: (tier: TierSnapshot) => KnownValue | null): Operand {
  return ({ subject }) => (subject.kind === "promotion_tier" ? read(subject.snapshot) : null);
}

const OPERANDS: ReadonlyMap<string, Operand> = new Map<string, Operand>([
  ["ORDER_AMOUNT", ({ state }) => (state.hasAmount ? moneyValue(state.amount) : null)],
  ["ORDER_ITEMS_QUANTITY", ({ order, state }) => order && numberOf(state.lines.length)],
  [
    "ORDER_UNITS_QUANTITY",
    ({ order, state }) => order && countValue(sumOf(state.lines, (line) => line.quantity)),
  ],
  ["ORDER_BUNDLE_QUANTITY", ({ bundles }) => countValue(bundles)],
  [
    "VOUCHER_REDEMPTION_QUANTITY",
    voucherOperand(({ quantity }) => (quantity === null ? null : countValue(quantity))),
  ],
  [
    "VOUCHER_REDEEMED_QUANTITY",
    voucherOperand(({ redeemedQuantity }) => countValue(redeemedQuantity)),
  ],
  ["VOUCHER_PUBLISH_COUNT", voucherOperand(({ publishCount }) => countValue(publishCount))],
  ["VOUCHER_START_DATE", voucherOperand(({ validity }) => dateOf(validity.startDate))],
  ["VOUCHER_EXPIRATION_DATE", voucherOperand(({ validity }) => dateOf(validity.expirationDate))],
  ["PROMOTION_TIER_START_DATE", tierOperand(({ validity }) => dateOf(validity.startDate))],
  [
    "PROMOTION_TIER_EXPIRATION_DATE",
    tierOperand(({ validity }) => dateOf(validity.expirationDate)),
  ],
  [
    "CUSTOMER_BIRTHDATE",
    ({ customer, time }) => dateOf(parseDay(customer?.birthdate ?? "", time.timeZone) ?? null),
  ],
]);

const METADATA: ReadonlyMap<string, (source: OperandSource) => Metadata | null> = new Map<
  string,
  (source: OperandSource) => Metadata | null
>([
  ["ORDER_METADATA", ({ order }) => order?.metadata ?? null],
  ["CUSTOMER_METADATA", ({ customer }) => customer?.metadata ?? null],
  ["REDEMPTION_METADATA", ({ metadata }) => metadata],
  [
    "PUBLICATION_METADATA",
    ({ subject }) => (subject.kind === "voucher" ? subject.snapshot.publicationMetadata : null),
  ],
  ["REDEEMABLE_METADATA", ({ subject }) => subject.snapshot.metadata],
]);

const LINE_OPERANDS: ReadonlyMap<string, (line: LineState) => KnownValue | null> = new Map<
  string,
  (line: LineState) => KnownValue | null
>([
  ["PRICE", ({ price }) => (price === null ? null : moneyValue(price))],
  ["AMOUNT", ({ amount }) => moneyValue(amount)],
  ["SUBTOTAL", (line) => moneyValue(subtotalAmount(line))],
  ["UNITS_QUANTITY", ({ quantity }) => countValue(quantity)],
]);

const LINE_METADATA: ReadonlyMap<string, (line: LineState) => Metadata> = new Map<
  string,
  (line: LineState) => Metadata
>([
  ["METADATA", ({ snapshot }) => snapshot.metadata],
  ["PRODUCT_METADATA", ({ snapshot }) => snapshot.productMetadata],
]);

const numberOf = (count: number): KnownValue => countValue(BigInt(count));

const dateOf = (instant: number | null): KnownValue | null =>
  instant === null ? null : dateValue(instant);

/**
 * At the same price the line with the lowest subtotal, then the first; lines without units are
 * ignored.
 */
function findExtreme(lines: readonly LineState[], sign: 1n | -1n): LineState | null {
  let found: { readonly line: LineState; readonly rank: readonly [bigint, bigint] } | null = null;
  for (const line of lines) {
    if (line.price === null || line.quantity === 0n) continue;
    const rank = [line.price * -sign, subtotalAmount(line)] as const;
    if (found === null || comesBefore(rank, found.rank)) found = { line, rank };
  }
  return found?.line ?? null;
}

const comesBefore = (
  [price, subtotal]: readonly [bigint, bigint],
  [otherPrice, otherSubtotal]: readonly [bigint, bigint],
): boolean => price < otherPrice || (price === otherPrice && subtotal < otherSubtotal);
