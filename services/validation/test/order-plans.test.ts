import { create } from "@bufbuild/protobuf";
import { OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { entriesRead, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { repairOrders } from "../src/store/order-repairs.ts";
import type { StoredOrder } from "../src/store/order-rows.ts";
import { saveOrders } from "../src/store/orders.ts";

// Plans are cached per connection, so the pool has one connection.
const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS, poolSize: 1 });
afterAll(() => db[Symbol.asyncDispose]());

const NOON = new Date("2026-03-01T12:00:00Z");
const ORDERS = 3_000;

test("looks up an order by its key, even with a plan cached when the table was empty", async () => {
  const orders = Array.from({ length: ORDERS }, (_, n) => buildOrder(`ord_${n}`));
  const [some, others] = [orders.slice(0, 5), orders.slice(5)];
  // Postgres caches a generic plan from the sixth execution on.
  for (let run = 0; run < 10; run += 1) await repairOrders(db, some);
  // Writes other orders, because a row that is written twice may have two index entries.
  await saveOrders(db, others);

  const before = await entriesRead(db, "shop_order");
  for (let run = 0; run < 10; run += 1) await repairOrders(db, some);
  expect((await entriesRead(db, "shop_order")) - before).toBeLessThanOrEqual(10 * some.length);
});

const buildOrder = (id: string): StoredOrder => ({
  projectId: "proj_1",
  order: create(OrderSchema, { id, status: OrderStatus.PAID }),
  at: NOON,
});
