/** The orders of lists of vouchers and campaigns; `-` in front means descending. */
export type ResourceOrder = "created_at" | "-created_at" | "updated_at" | "-updated_at";

export type DatedResource = {
  readonly id: string;
  readonly createdAt: number;
  /** null before the first change. */
  readonly updatedAt: number | null;
};

/** Sorts as lists do: resources that never changed come last, and ties are broken by the id. */
export function compareInOrder(
  order: ResourceOrder,
): (a: DatedResource, b: DatedResource) => number {
  const sign = order.startsWith("-") ? -1 : 1;
  const dateOf = order.endsWith("updated_at")
    ? ({ updatedAt }: DatedResource) => updatedAt
    : ({ createdAt }: DatedResource) => createdAt;
  return (a, b) => {
    const [left, right] = [dateOf(a), dateOf(b)];
    if (left === right) return a.id === b.id ? 0 : sign * (a.id < b.id ? -1 : 1);
    if (left === null) return 1;
    return right === null ? -1 : sign * (left - right);
  };
}
