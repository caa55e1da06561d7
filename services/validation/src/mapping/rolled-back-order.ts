import { instantToProto } from "@scrip/mapping";
import { type Order, type OrderItem, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

import {
  type AppliedFigures,
  rollBackFigures,
  type StoredFigures,
  type StoredLine,
} from "../domain/order/order-rollback.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";

export type RollbackContext = {
  /** The redemption that is rolled back; its key in `redemptions`. */
  readonly redemptionId: string;
  readonly mode: StackingRules["redeemablesRollbackOrderMode"];
  readonly now: number;
};

/**
 * The order after the rollback of a redemption (docs/redemption-and-rollback.md#rollback).
 * `redeemed` is the order as that redemption left it. The commit completes the entry in
 * `redemptions`, since it creates the rollback's id.
 */
export function rolledBackOrder(stored: Order, redeemed: Order, context: RollbackContext): Order {
  const updatedAt = instantToProto(context.now);
  if (context.mode === "WITHOUT_ORDER") return { ...stored, updatedAt };
  const isLast = !Object.entries(stored.redemptions).some(
    ([id, entry]) => id !== context.redemptionId && entry.rollbackId === undefined,
  );
  const figures = rollBackFigures(figuresOf(stored), appliedBy(redeemed), isLast);
  const { amount, discountAmount, itemsDiscountAmount } = figures;
  return {
    ...stored,
    ...NOTHING_APPLIED,
    amount,
    discountAmount,
    itemsDiscountAmount,
    totalDiscountAmount: discountAmount + itemsDiscountAmount,
    totalAmount: amount - discountAmount - itemsDiscountAmount,
    items: figures.lines.map(itemOf),
    updatedAt,
    ...(isLast && { status: OrderStatus.CANCELED }),
  };
}

const NOTHING_APPLIED = {
  appliedDiscountAmount: 0n,
  itemsAppliedDiscountAmount: 0n,
  totalAppliedDiscountAmount: 0n,
} as const;

/** A line with its item. */
type Line = StoredLine & { readonly item: OrderItem };

const figuresOf = ({
  amount,
  initialAmount,
  discountAmount,
  items,
}: Order): StoredFigures<Line> => ({
  amount,
  initialAmount,
  discountAmount,
  lines: items.map((item) => ({
    item,
    id: item.id ?? null,
    quantity: item.quantity,
    initialQuantity: item.initialQuantity,
    amount: item.amount,
    initialAmount: item.initialAmount,
    discountAmount: item.discountAmount,
    discountQuantity: item.discountQuantity,
  })),
});

const appliedBy = ({ appliedDiscountAmount, items }: Order): AppliedFigures => ({
  discountAmount: appliedDiscountAmount,
  lines: new Map(
    items.map((item) => [
      item.id ?? "",
      {
        discountAmount: item.appliedDiscountAmount,
        discountQuantity: item.appliedDiscountQuantity,
        quantity: item.appliedQuantity,
        quantityAmount: item.appliedQuantityAmount,
      },
    ]),
  ),
});

const itemOf = ({ item, quantity, amount, discountAmount, discountQuantity }: Line): OrderItem => ({
  ...item,
  quantity,
  amount,
  discountAmount,
  discountQuantity,
  subtotalAmount: amount - discountAmount,
  appliedDiscountAmount: 0n,
  appliedDiscountQuantity: 0n,
  appliedQuantity: 0n,
  appliedQuantityAmount: 0n,
  applicationDetails: [],
});
