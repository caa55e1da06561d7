import { fromBinary } from "@bufbuild/protobuf";
import {
  type Chunk,
  type ChunkRequest,
  type InvariantCheck,
  listProjectsIn,
  type Queryable,
  type Violation,
} from "@scrip/postgres";
import { type Order, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";

/** Every project that has orders, also one that the gateway no longer knows. */
export const listOrderProjects = (db: Queryable): Promise<readonly string[]> =>
  listProjectsIn(db, "shop_order");

export const orderInvariants: readonly InvariantCheck[] = [
  {
    name: "Orders",
    states: "the figures of an order and its items add up, and no total is negative",
    checkChunk: checkOrders,
  },
];

async function checkOrders(db: Queryable, request: ChunkRequest): Promise<Chunk> {
  const { rows } = await db.query<{ id: string; document: Uint8Array | null }>(
    `select id, document from shop_order
      where project_id = $1 and id > $2
      order by id
      limit $3`,
    [request.projectId, request.after, request.limit],
  );
  const last = rows.at(-1)?.id ?? null;
  return {
    checked: rows.length,
    last: rows.length < request.limit ? null : last,
    violations: rows.flatMap(({ id, document }) =>
      // Without a document it is only claimed so far.
      document === null ? [] : faultsOf(id, fromBinary(OrderSchema, document)),
    ),
  };
}

function faultsOf(id: string, order: Order): Violation[] {
  const { items } = order;
  const sums: readonly (readonly [string, bigint, bigint])[] = [
    [
      "total_discount_amount",
      order.totalDiscountAmount,
      order.discountAmount + order.itemsDiscountAmount,
    ],
    ["total_amount", order.totalAmount, order.amount - order.totalDiscountAmount],
    [
      "total_applied_discount_amount",
      order.totalAppliedDiscountAmount,
      order.appliedDiscountAmount + order.itemsAppliedDiscountAmount,
    ],
    [
      "items_discount_amount",
      order.itemsDiscountAmount,
      items.reduce((sum, { discountAmount }) => sum + discountAmount, 0n),
    ],
    ...items.map(
      (item, index) =>
        [
          `items[${index}].subtotal_amount`,
          item.subtotalAmount,
          item.amount - item.discountAmount,
        ] as const,
    ),
  ];
  const wrong = sums.filter(([, has, should]) => has !== should);
  const negative =
    order.totalAmount < 0n || items.some(({ subtotalAmount }) => subtotalAmount < 0n);
  return [
    ...wrong.map(([name, has, should]) => ({
      subject: id,
      details: `${name} is ${has}, its parts make ${should}`,
    })),
    ...(order.id === id ? [] : [{ subject: id, details: `its document is order ${order.id}` }]),
    ...(negative ? [{ subject: id, details: "a total is negative" }] : []),
  ];
}
