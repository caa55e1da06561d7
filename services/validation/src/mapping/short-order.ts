import { create } from "@bufbuild/protobuf";
import {
  type OrderInput,
  OrderInputSchema,
  type OrderItemInput,
} from "@scrip/proto/scrip/common/v1/order_pb";

/** An order whose amount and items a query can also contain directly. */
export type ShortOrder = {
  readonly order?: OrderInput | undefined;
  readonly amount?: bigint | undefined;
  readonly item: readonly OrderItemInput[];
};

/** The order of a query: what it contains directly takes precedence over `order`. */
export function orderOfQuery({ order, amount, item }: ShortOrder): { order?: OrderInput } {
  if (order === undefined && amount === undefined && item.length === 0) return {};
  return {
    order: {
      ...(order ?? create(OrderInputSchema)),
      ...(amount !== undefined && { amount }),
      ...(item.length > 0 && { items: [...item] }),
    },
  };
}
