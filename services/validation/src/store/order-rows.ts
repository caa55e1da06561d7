import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { type ArrayValue, byteaArray, textArray, timestampArray } from "@scrip/postgres";
import {
  type Order,
  type OrderItemInput,
  OrderSchema,
  OrderStatus,
} from "@scrip/proto/scrip/common/v1/order_pb";

import { orderPaid, orderPaidKey } from "../events/order-paid.ts";

export type StoredOrder = { readonly projectId: string; readonly order: Order; readonly at: Date };

/** An order with its lines that override the catalogue. */
export type OverridingOrder = StoredOrder & { readonly overrides: readonly OrderItemInput[] };

/**
 * The last state of each order in the batch, since a statement can write a row only once. Sorted,
 * so that all statements lock rows in the same order and cannot deadlock.
 */
export const lastStates = (orders: readonly StoredOrder[]): StoredOrder[] => {
  const last = new Map(
    orders.map((stored) => [`${stored.projectId} ${stored.order.id}`, stored] as const),
  );
  return [...last].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, stored]) => stored);
};

export const columnsOf = (rows: readonly StoredOrder[]): ArrayValue[] => [
  textArray(rows.map(({ projectId }) => projectId)),
  textArray(rows.map(({ order }) => order.id ?? null)),
  textArray(rows.map(({ order }) => order.sourceId ?? null)),
  textArray(
    rows.map(({ order }) => STATUS_NAMES[order.status ?? OrderStatus.CREATED] ?? "CREATED"),
  ),
  textArray(rows.map(({ order }) => order.customerId ?? null)),
  byteaArray(rows.map(({ order }) => toBinary(OrderSchema, order))),
  timestampArray(
    rows.map(({ order, at }) =>
      order.createdAt === undefined ? at.getTime() : timestampMs(order.createdAt),
    ),
  ),
  timestampArray(rows.map(({ at }) => at.getTime())),
];

/** For each paid order the event to write if the order has none yet. */
export function eventColumnsOf(rows: readonly StoredOrder[]): ArrayValue[] {
  const isPaid = ({ order }: StoredOrder): boolean => order.status === OrderStatus.PAID;
  return [
    textArray(rows.map((row) => (isPaid(row) ? newId("event") : null))),
    textArray(rows.map(({ order }) => orderPaidKey(order))),
    byteaArray(
      rows.map((row) => (isPaid(row) ? orderPaid(row.projectId, row.order, row.at) : null)),
    ),
  ];
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  [OrderStatus.CREATED]: "CREATED",
  [OrderStatus.PAID]: "PAID",
  [OrderStatus.CANCELED]: "CANCELED",
  [OrderStatus.FULFILLED]: "FULFILLED",
};
