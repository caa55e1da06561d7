import { atLeastZero, smallestOf, sumOf } from "./minor-units.ts";

/** The fields of a stored line that a rollback changes. */
export type StoredLine = {
  readonly id: string | null;
  readonly quantity: bigint;
  readonly initialQuantity: bigint;
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
};

export type StoredFigures<Line extends StoredLine> = {
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly lines: readonly Line[];
};

/** The changes that a redemption made to an order. */
export type AppliedFigures = {
  readonly discountAmount: bigint;
  readonly lines: ReadonlyMap<string, AppliedLine>;
};

export type AppliedLine = {
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  readonly quantity: bigint;
  readonly quantityAmount: bigint;
};

export type RolledBackFigures<Line extends StoredLine> = StoredFigures<Line> & {
  readonly itemsDiscountAmount: bigint;
};

/**
 * Reverts the changes of one redemption and keeps those of others. With `isLast` no redemption
 * remains, and the order gets its initial figures back. Lines are matched by id. The order may have
 * been edited since the redemption, so no figure falls below zero and no discount exceeds its base.
 * docs/redemption-and-rollback.md#rollback
 */
export function rollBackFigures<Line extends StoredLine>(
  order: StoredFigures<Line>,
  applied: AppliedFigures,
  isLast: boolean,
): RolledBackFigures<Line> {
  const lines = order.lines
    .map((line) => rollBackLine(line, applied.lines.get(line.id ?? ""), isLast))
    .filter((line) => line.quantity > 0n || line.initialQuantity > 0n);
  const moved = sumOf(lines, (line) => line.amount) - sumOf(order.lines, (line) => line.amount);
  const amount = isLast ? order.initialAmount : atLeastZero(order.amount + moved);
  const itemsDiscountAmount = sumOf(lines, (line) => line.discountAmount);
  const discountAmount = smallestOf(
    atLeastZero(order.discountAmount - applied.discountAmount),
    atLeastZero(amount - itemsDiscountAmount),
  );
  return { amount, initialAmount: order.initialAmount, discountAmount, itemsDiscountAmount, lines };
}

function rollBackLine<Line extends StoredLine>(
  line: Line,
  applied: AppliedLine = NO_FIGURES,
  isLast: boolean,
): Line {
  const quantity = isLast ? line.initialQuantity : atLeastZero(line.quantity - applied.quantity);
  const amount = isLast ? line.initialAmount : atLeastZero(line.amount - applied.quantityAmount);
  return {
    ...line,
    quantity,
    amount,
    discountAmount: smallestOf(atLeastZero(line.discountAmount - applied.discountAmount), amount),
    discountQuantity: smallestOf(
      atLeastZero(line.discountQuantity - applied.discountQuantity),
      quantity,
    ),
  };
}

const NO_FIGURES: AppliedLine = {
  discountAmount: 0n,
  discountQuantity: 0n,
  quantity: 0n,
  quantityAmount: 0n,
};
