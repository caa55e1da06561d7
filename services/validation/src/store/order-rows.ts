import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Origin, storedHeaders } from "@scrip/events";
import { newId } from "@scrip/ids";
import { column, type ColumnTable, packBytes } from "@scrip/postgres";
import {
  type Order,
  type OrderItemInput,
  OrderSchema,
  OrderStatus,
} from "@scrip/proto/scrip/common/v1/order_pb";

import { orderPaid, orderPaidKey } from "../events/order-paid.ts";

export type StoredOrder = {
  readonly projectId: string;
  readonly order: Order;
  readonly at: Date;
  /** Origin of the event `OrderPaid`; absent in projects without webhooks and earning rules. */
  readonly origin?: Origin | undefined;
};

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

/** Columns that identify an order. */
const keyColumns: ColumnTable<StoredOrder> = {
  project_id: column.text(({ projectId }) => projectId),
  id: column.text(({ order }) => order.id ?? null),
  source_id: column.text(({ order }) => order.sourceId ?? null),
};

/** Columns that each state of an order replaces. */
export const stateColumns: ColumnTable<StoredOrder> = {
  status: column.text(
    ({ order }) => STATUS_NAMES[order.status ?? OrderStatus.CREATED] ?? "CREATED",
  ),
  customer_id: column.text(({ order }) => order.customerId ?? null),
  document: column.bytea(({ order }) => packBytes(toBinary(OrderSchema, order))),
  created_at: column.timestamp(({ order, at }) =>
    order.createdAt === undefined ? at.getTime() : timestampMs(order.createdAt),
  ),
  updated_at: column.timestamp(({ at }) => at.getTime()),
};

export const orderColumns: ColumnTable<StoredOrder> = { ...keyColumns, ...stateColumns };

const isPaid = ({ order }: StoredOrder): boolean => order.status === OrderStatus.PAID;

/** For each paid order the event to write if the order has none yet. */
export const paidEventColumns: ColumnTable<StoredOrder> = {
  paid_event_id: column.text((row) => (isPaid(row) ? newId("event") : null)),
  event_key: column.text(({ order }) => orderPaidKey(order)),
  event: column.bytea((row) => (isPaid(row) ? orderPaid(row.projectId, row.order, row.at) : null)),
  event_headers: column.json((row) => (isPaid(row) ? storedHeaders(undefined, row.origin) : null)),
};

const STATUS_NAMES: Readonly<Record<number, string>> = {
  [OrderStatus.CREATED]: "CREATED",
  [OrderStatus.PAID]: "PAID",
  [OrderStatus.CANCELED]: "CANCELED",
  [OrderStatus.FULFILLED]: "FULFILLED",
};
