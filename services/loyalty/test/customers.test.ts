import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import {
  type CreateCustomerRequestSchema,
  CustomerService,
  type ListCustomersRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const client = clientOf(CustomerService, createDirectTransport(routes(createDeps(db))));

const NOON = Date.parse("2026-03-01T12:00:00Z");

test("a customer keeps all that was sent, and nothing is counted about a new one", async () => {
  const { create } = givenProject();
  const customer = await create({
    sourceId: "ada",
    name: "Ada",
    email: "ada@example.com",
    phone: "+33 1",
    description: "First",
    birthdate: "1815-12-10",
    address: { city: "Paris", line1: "1 Rue", postalCode: "75001" },
    country: "FR",
    metadata: { vip: true },
  });
  expect(customer).toMatchObject({
    id: expect.stringMatching(/^cust_/),
    sourceId: "ada",
    name: "Ada",
    email: "ada@example.com",
    phone: "+33 1",
    description: "First",
    birthdate: "1815-12-10",
    birthday: "1815-12-10",
    address: { city: "Paris", line1: "1 Rue", postalCode: "75001", country: "FR" },
    metadata: { vip: true },
    createdAt: timestampFromMs(NOON),
    summary: {
      redemptions: { totalRedeemed: 0n, gift: { redeemedAmount: 0n } },
      orders: { totalAmount: 0n, totalCount: 0n, averageAmount: 0n, lastOrderAmount: 0n },
    },
    loyalty: { points: 0n, campaigns: {} },
    referrals: { total: 0n, campaigns: [] },
  });
  expect(customer.updatedAt).toBeUndefined();
  expect(customer.summary?.orders?.lastOrderDate).toBeUndefined();
});

test("the same source id updates, metadata is merged by key, and null clears", async () => {
  const { create } = givenProject();
  const first = await create({
    sourceId: "ada",
    name: "Ada",
    email: "a@example.com",
    address: { city: "Paris", state: "IdF" },
    metadata: { a: 1, b: 2 },
  });
  const second = await create(
    {
      sourceId: "ada",
      phone: "1",
      address: { city: "Lyon" },
      metadata: { b: null, c: 3 },
      updateMask: { paths: ["source_id", "phone", "email", "address", "metadata"] },
    },
    { now: NOON + 1000 },
  );
  expect(second).toMatchObject({
    id: first.id,
    name: "Ada",
    phone: "1",
    address: { city: "Lyon", state: "IdF" },
    metadata: { a: 1, b: null, c: 3 },
    createdAt: timestampFromMs(NOON),
    updatedAt: timestampFromMs(NOON + 1000),
  });
  expect(second.email).toBeUndefined();
});

test("an id decides over a source id, and an unknown one is no customer", async () => {
  const { create, project } = givenProject();
  const ada = await create({ sourceId: "ada" });
  const changed = await create({ id: ada.id, sourceId: "bob", name: "Ada" });
  expect(changed).toMatchObject({ id: ada.id, sourceId: "ada", name: "Ada" });
  await expect(create({ id: "cust_unknown" })).rejects.toMatchObject({ key: "not_found" });
  await expect(
    client.getCustomer({ customerId: "bob" }, callOf({ project })),
  ).rejects.toMatchObject({ key: "not_found" });
});

test("customers without a source id are customers of their own", async () => {
  const { create } = givenProject();
  const [one, two] = [await create({ name: "Guest" }), await create({ name: "Guest" })];
  expect(one.id).not.toBe(two.id);
  expect(one.sourceId).toBeUndefined();
});

test("requests that make the same customer at once make one, with all their metadata", async () => {
  const { create } = givenProject();
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, i) => create({ sourceId: "race", metadata: { [`k${i}`]: i } })),
  );
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  const last = await create({ sourceId: "race" });
  expect(Object.keys(last.metadata ?? {})).toHaveLength(20);
});

test("a path names a customer by id or source id, and an id goes first", async () => {
  const { create, project } = givenProject();
  const ada = await create({ sourceId: "ada" });
  const impostor = await create({ sourceId: ada.id });
  const call = callOf({ project });
  expect((await client.getCustomer({ customerId: "ada" }, call)).id).toBe(ada.id);
  expect((await client.getCustomer({ customerId: ada.id }, call)).id).toBe(ada.id);
  const updated = await client.updateCustomer({ customerId: "ada", name: "Ada" }, call);
  expect(updated).toMatchObject({ id: ada.id, name: "Ada" });
  await client.deleteCustomer({ customerId: ada.id }, call);
  expect((await client.getCustomer({ customerId: ada.id }, call)).id).toBe(impostor.id);
});

test("another project's customer cannot be read, changed, listed or deleted", async () => {
  const ada = await givenProject().create({ sourceId: "ada" });
  const call = callOf({ project: givenProject().project });
  const attempts = [
    client.getCustomer({ customerId: ada.id }, call),
    client.createCustomer({ id: ada.id, name: "Theirs" }, call),
    client.updateCustomer({ customerId: ada.id, name: "Theirs" }, call),
    client.deleteCustomer({ customerId: ada.id }, call),
    client.deleteCustomerPermanently({ customerId: ada.id }, call),
  ];
  await Promise.all(
    attempts.map((attempt) => expect(attempt).rejects.toMatchObject({ key: "not_found" })),
  );
  expect((await client.listCustomers({}, call)).total).toBe(0n);
});

test("a deletion leaves nothing, and a repeat says so", async () => {
  const { create, project } = givenProject();
  const call = callOf({ project });
  const ada = await create({ sourceId: "ada" });
  const deleted = await client.deleteCustomerPermanently({ customerId: "ada" }, call);
  expect(deleted).toMatchObject({
    id: expect.stringMatching(/^del_/),
    relatedObjectId: ada.id,
    relatedObject: "customer",
    status: "DONE",
    dataJson: { customer: 1n, orders: 0n },
  });
  await expect(client.deleteCustomerPermanently({ customerId: "ada" }, call)).rejects.toMatchObject(
    { key: "not_found" },
  );
  expect((await create({ sourceId: "ada" })).id).not.toBe(ada.id);
});

test("a list is paged, newest first, and counts all pages", async () => {
  const { list } = await givenCustomers(5);
  expect(await list({ limit: 2n })).toEqual({ names: ["c4", "c3"], total: 5n });
  expect(await list({ limit: 2n, page: 3n })).toEqual({ names: ["c0"], total: 5n });
  expect(await list({ limit: 2n, page: 99n })).toEqual({ names: [], total: 5n });
});

test("a list is ordered as asked, those without a value last", async () => {
  const { list, project } = await givenCustomers(3);
  await client.updateCustomer({ customerId: "s1" }, callOf({ project, now: NOON + 9_000 }));
  const namesBy = async (order: string) => (await list({ order })).names;
  expect(await namesBy("created_at")).toEqual(["c0", "c1", "c2"]);
  expect(await namesBy("-source_id")).toEqual(["c2", "c1", "c0"]);
  expect((await namesBy("-updated_at"))[0]).toBe("c1");
  expect((await namesBy("updated_at"))[0]).toBe("c1");
});

test("a list holds what was asked for", async () => {
  const { list, create } = await givenCustomers(3);
  await create({ name: "Ada", email: "ada@example.com", address: { city: "Paris" } });
  expect((await list({ email: "ada@example.com" })).names).toEqual(["Ada"]);
  expect((await list({ city: "Paris" })).names).toEqual(["Ada"]);
  expect((await list({ name: "c1" })).names).toEqual(["c1"]);
  expect((await list({ segmentId: "seg_1" })).total).toBe(0n);
  const range = { after: timestampFromMs(NOON), before: timestampFromMs(NOON + 2000) };
  expect((await list({ createdAt: range })).names).toEqual(["c1"]);
  expect((await list({ updatedAt: range })).names).toEqual([]);
});

test("a time is where a list goes on", async () => {
  const { list } = await givenCustomers(4);
  const after = { startingAfter: timestampFromMs(NOON + 2000) };
  expect(await list(after)).toEqual({ names: ["c1", "c0"], total: 4n });
  expect((await list({ ...after, order: "created_at" })).names).toEqual(["c3"]);
  await expect(list({ ...after, order: "source_id" })).rejects.toMatchObject({
    key: "invalid_query_params",
  });
});

/** Customers c0, c1, … with the source ids s0, s1, …, made a second apart. */
async function givenCustomers(count: number) {
  const { create, project } = givenProject();
  for (let i = 0; i < count; i += 1) {
    await create({ sourceId: `s${i}`, name: `c${i}` }, { now: NOON + i * 1000 });
  }
  const list = async (request: MessageInitShape<typeof ListCustomersRequestSchema>) => {
    const { customers, total } = await client.listCustomers(request, callOf({ project }));
    return { names: customers.map(({ name }) => name), total };
  };
  return { create, list, project };
}

function givenProject() {
  const project = newId("proj");
  const create = (
    request: MessageInitShape<typeof CreateCustomerRequestSchema>,
    { now = NOON } = {},
  ) => client.createCustomer(request, callOf({ project, now }));
  return { project, create };
}

function callOf({ project, now = NOON }: { project: string; now?: number }): Call {
  return {
    project: { id: project, timeZone: "UTC", caseSensitiveCodes: true },
    requestId: "v-000000000000000000",
    deadline: Date.now() + 60_000,
    now,
    caller: { side: "server", id: "app_test" },
  };
}
