import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCustomers } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, db, segments } = loyalty;

const outboxOf = async (projectId: string) => {
  const { rows } = await db.query<{ topic: string; type: string; key: string }>(
    "select topic, type, key from outbox where project_id = $1 and topic <> 'scrip.audit.v1'",
    [projectId],
  );
  return rows;
};

describe("DeleteCustomer", () => {
  test("removes the customer, emits one event, and a repetition is rejected", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada" });
    await customers.deleteCustomer({ customerId: "ada" }, call);
    await expect(customers.getCustomer({ customerId: ada.id }, call)).rejects.toMatchObject({
      key: "not_found",
    });
    await expect(customers.deleteCustomer({ customerId: ada.id }, call)).rejects.toMatchObject({
      key: "not_found",
    });
    expect(await outboxOf(call.project.id)).toEqual([
      { topic: "scrip.customers.v1", type: "scrip.events.v1.CustomerDeleted", key: ada.id },
    ]);
  });

  test("succeeds for exactly one of two concurrent deletions", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada" });
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => customers.deleteCustomer({ customerId: ada.id }, call)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await outboxOf(call.project.id)).toHaveLength(1);
  });

  test("rejects an unknown customer", async () => {
    await expect(customers.deleteCustomer({ customerId: "ada" }, newCall())).rejects.toMatchObject({
      key: "not_found",
    });
  });
});

describe("DeleteCustomerPermanently", () => {
  test("returns the number of removed objects, and a repetition is rejected", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada" });
    const deleted = await customers.deleteCustomerPermanently({ customerId: "ada" }, call);
    expect(deleted).toMatchObject({
      id: expect.stringMatching(/^del_/),
      relatedObjectId: ada.id,
      relatedObject: "customer",
      status: "DONE",
      dataJson: { customer: 1n, orders: 0n },
      createdAt: timestampFromMs(call.now),
    });
    await expect(
      customers.deleteCustomerPermanently({ customerId: "ada" }, call),
    ).rejects.toMatchObject({ key: "not_found" });
    expect((await create({ sourceId: "ada" })).id).not.toBe(ada.id);
  });

  test("removes the customer from the static segments that listed them", async () => {
    const { create, call } = newCustomers(loyalty);
    const [ada, bob] = [await create({ sourceId: "ada" }), await create({ sourceId: "bob" })];
    const listed = { name: "a", type: "static", customers: [ada.id, bob.id] };
    const { id } = await segments.createSegment(listed, call);
    await segments.createSegment({ name: "b", type: "static", customers: [ada.id] }, call);
    const deleted = await customers.deleteCustomerPermanently({ customerId: "ada" }, call);
    expect(deleted.dataJson).toMatchObject({ customer: 1n, segments: 2n });
    const left = await customers.listCustomers({ segmentId: id }, call);
    expect(left.customers.map((customer) => customer.id)).toEqual([bob.id]);
  });
});
