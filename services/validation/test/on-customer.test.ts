import { create, toBinary } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { OrderRedemptionSchema, OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { CUSTOMERS_TOPIC, onCustomer } from "../src/events/on-customer.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { repairOrders, repairRolledBackOrders } from "../src/store/order-repairs.ts";
import { findOrder, saveOrders } from "../src/store/orders.ts";

const NOON = new Date("2026-11-21T12:00:00Z");

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());

test("deletes the orders of a permanently deleted customer, and does not restore them", async () => {
  const [ada, bob] = [buildOrder("cust_ada"), buildOrder("cust_bob")];
  await saveOrders(db, [ada, bob]);
  await deleted("cust_ada", false);
  expect(await isStored(ada)).toBe(true);

  await deleted("cust_ada", true);
  expect([await isStored(ada), await isStored(bob)]).toEqual([false, true]);
  const late = buildOrder("cust_ada");
  const nobodys = buildOrder(undefined);
  await repairOrders(db, [ada, late, nobodys]);
  await repairRolledBackOrders(db, [rolledBack(ada), rolledBack(bob)]);
  expect((await stored(bob))?.redemptions["r_1"]?.rollbackId).toBe("rr_1");
  expect([await isStored(ada), await isStored(late), await isStored(nobodys)]).toEqual([
    false,
    false,
    true,
  ]);
});

function buildOrder(customerId: string | undefined) {
  const order = create(OrderSchema, {
    id: newId("ord"),
    amount: 100n,
    ...(customerId !== undefined && { customerId }),
  });
  return { projectId: "proj_1", order, at: NOON };
}

type TestOrder = ReturnType<typeof buildOrder>;

const rolledBack = (one: TestOrder): TestOrder => {
  const redemptions = { r_1: create(OrderRedemptionSchema, { rollbackId: "rr_1" }) };
  return { ...one, order: { ...one.order, redemptions } };
};

const stored = ({ order }: TestOrder) =>
  findOrder(db, "proj_1", { column: "id", value: order.id ?? "" });

const isStored = async (one: TestOrder): Promise<boolean> => (await stored(one)) !== undefined;

async function deleted(customerId: string, permanent: boolean): Promise<void> {
  const said = create(CustomerDeletedSchema, { projectId: "proj_1", customerId, permanent });
  const event = {
    id: newId("event"),
    topic: CUSTOMERS_TOPIC,
    key: customerId,
    projectId: "proj_1",
    type: CustomerDeletedSchema.typeName,
    payload: toBinary(CustomerDeletedSchema, said),
    headers: {},
    occurredAt: NOON,
    partition: 0,
    offset: 0n,
  };
  const { signal } = new AbortController();
  await onCustomer(db)([event, event], {
    group: "validation-customers",
    topic: CUSTOMERS_TOPIC,
    signal,
  });
}
