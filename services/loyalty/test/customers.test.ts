import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCustomers, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers } = loyalty;

describe("CreateCustomer", () => {
  test("stores every field, and a new customer has no figures", async () => {
    const { create } = newCustomers(loyalty);
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

  test("updates the customer with the same source id, merges metadata by key and clears null fields", async () => {
    const { create } = newCustomers(loyalty);
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

  test("gives an id precedence over a source id and rejects an unknown id", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada" });
    const changed = await create({ id: ada.id, sourceId: "bob", name: "Ada" });
    expect(changed).toMatchObject({ id: ada.id, sourceId: "ada", name: "Ada" });
    await expect(create({ id: "cust_unknown" })).rejects.toMatchObject({ key: "not_found" });
    await expect(customers.getCustomer({ customerId: "bob" }, call)).rejects.toMatchObject({
      key: "not_found",
    });
  });

  test("rejects a customer without an id and a source id", async () => {
    const { create } = newCustomers(loyalty);
    await expect(create({ name: "Guest" })).rejects.toMatchObject({
      key: "invalid_payload",
    });
  });

  test("creates one customer with the metadata of all concurrent requests", async () => {
    const { create } = newCustomers(loyalty);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        create({ sourceId: "race", metadata: { [`k${i}`]: i } }),
      ),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    const last = await create({ sourceId: "race" });
    expect(Object.keys(last.metadata ?? {})).toHaveLength(20);
  });
});

describe("GetCustomer", () => {
  test("finds a customer by id or source id, and the id takes precedence", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada" });
    const impostor = await create({ sourceId: ada.id });
    expect((await customers.getCustomer({ customerId: "ada" }, call)).id).toBe(ada.id);
    expect((await customers.getCustomer({ customerId: ada.id }, call)).id).toBe(ada.id);
    const updated = await customers.updateCustomer({ customerId: "ada", name: "Ada" }, call);
    expect(updated).toMatchObject({ id: ada.id, name: "Ada" });
    await customers.deleteCustomer({ customerId: ada.id }, call);
    expect((await customers.getCustomer({ customerId: ada.id }, call)).id).toBe(impostor.id);
  });

  test("rejects an unknown customer", async () => {
    await expect(
      customers.getCustomer({ customerId: "cust_unknown" }, newCall()),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

describe("UpdateCustomer", () => {
  test("changes only the sent fields and clears null ones", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada", name: "Ada", phone: "1", metadata: { a: 1 } });
    const request = {
      customerId: "ada",
      email: "ada@example.com",
      metadata: { b: 2 },
      updateMask: { paths: ["email", "phone", "metadata"] },
    };
    const updated = await customers.updateCustomer(request, { ...call, now: NOON + 1000 });
    expect(updated).toMatchObject({
      id: ada.id,
      name: "Ada",
      email: "ada@example.com",
      metadata: { a: 1, b: 2 },
      createdAt: timestampFromMs(NOON),
      updatedAt: timestampFromMs(NOON + 1000),
    });
    expect(updated.phone).toBeUndefined();
    expect(await customers.updateCustomer(request, { ...call, now: NOON + 1000 })).toEqual(updated);
  });

  test("rejects an unknown customer instead of creating one", async () => {
    const call = newCall();
    await expect(
      customers.updateCustomer({ customerId: "ada", name: "Ada" }, call),
    ).rejects.toMatchObject({ key: "not_found" });
    expect((await customers.listCustomers({}, call)).total).toBe(0n);
  });

  test("loses no field of concurrent updates", async () => {
    const { create, call } = newCustomers(loyalty);
    await create({ sourceId: "ada" });
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        customers.updateCustomer({ customerId: "ada", metadata: { [`k${i}`]: i } }, call),
      ),
    );
    const { metadata } = await customers.getCustomer({ customerId: "ada" }, call);
    expect(Object.keys(metadata ?? {})).toHaveLength(10);
  });
});

describe("ImportCustomers", () => {
  test("creates and updates customers item by item, once under a key", async () => {
    const call = newCall();
    await customers.createCustomer(
      { sourceId: "eve", name: "Eve", phone: "+1", metadata: { a: 1 } },
      call,
    );
    const items = [
      {
        sourceId: "eve",
        name: "Eva",
        metadata: { b: 2 },
        updateMask: { paths: ["name", "phone"] },
      },
      { sourceId: "new", name: "New", country: "FR" },
      { name: "Nobody" },
      { sourceId: "new", email: "new@example.com" },
    ];
    const keyed = { ...call, idempotency: { key: "aa_1:0", requestHash: new Uint8Array([1]) } };
    const { outcomes } = await loyalty.imports.importCustomers({ items }, keyed);
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual([
      "result",
      "result",
      "rejected",
      "result",
    ]);
    expect(outcomes.map(({ outcome }) => outcome.case === "result" && outcome.value)).toEqual([
      ItemResult.UPDATED,
      ItemResult.CREATED,
      false,
      ItemResult.UPDATED,
    ]);
    expect(await loyalty.imports.importCustomers({ items }, keyed)).toMatchObject({ outcomes });
    const eve = await customers.getCustomer({ customerId: "eve" }, call);
    expect(eve).toMatchObject({ name: "Eva", metadata: { a: 1, b: 2 } });
    expect(eve.phone).toBeUndefined();
    const created = await customers.getCustomer({ customerId: "new" }, call);
    expect(created).toMatchObject({
      name: "New",
      email: "new@example.com",
      address: { country: "FR" },
    });
    expect(created.updatedAt).toBeUndefined();
  });

  test("creates each customer once when imports run concurrently", async () => {
    const call = newCall();
    const items = Array.from({ length: 60 }, (_, index) => ({
      sourceId: `c-${index}`,
      name: `Customer ${index}`,
    }));
    const even = items.filter((_, index) => index % 2 === 0);
    await loyalty.imports.importCustomers({ items: even }, call);
    const runs = await Promise.all(
      [items, items.toReversed(), items, items.toReversed()].map((order) =>
        loyalty.imports.importCustomers({ items: order }, call),
      ),
    );
    const results = runs.flatMap(({ outcomes }) =>
      outcomes.map(({ outcome }) => outcome.case === "result" && outcome.value),
    );
    expect(results.filter((one) => one === ItemResult.CREATED)).toHaveLength(30);
    expect(results.filter((one) => one === ItemResult.UPDATED)).toHaveLength(210);
    expect(await customers.listCustomers({}, call)).toMatchObject({ total: 60n });
  });
});
