import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListCustomersRequestSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { type Init, newCustomers, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers } = loyalty;

/** Customers c0, c1, … with the source ids s0, s1, …, created one second apart. */
async function createCustomers(count: number) {
  const { create, call } = newCustomers(loyalty);
  for (let i = 0; i < count; i += 1) {
    await create({ sourceId: `s${i}`, name: `c${i}` }, { now: NOON + i * 1000 });
  }
  const list = async (request: Init<typeof ListCustomersRequestSchema>) => {
    const { customers: listed, total, hasMore } = await customers.listCustomers(request, call);
    return { names: listed.map(({ name }) => name), total, hasMore };
  };
  return { create, list, call };
}

describe("ListCustomers", () => {
  test("returns pages, newest first, and the total of all pages", async () => {
    const { list } = await createCustomers(5);
    expect(await list({ limit: 2n })).toEqual({ names: ["c4", "c3"], total: 5n, hasMore: true });
    expect(await list({ limit: 2n, page: 3n })).toEqual({
      names: ["c0"],
      total: 5n,
      hasMore: false,
    });
    expect(await list({ limit: 2n, page: 99n })).toEqual({ names: [], total: 5n, hasMore: false });
  });

  test("sorts by the requested order, customers without a value last", async () => {
    const { list, call } = await createCustomers(3);
    await customers.updateCustomer({ customerId: "s1" }, { ...call, now: NOON + 9_000 });
    const namesBy = async (order: string) => (await list({ order })).names;
    expect(await namesBy("created_at")).toEqual(["c0", "c1", "c2"]);
    expect(await namesBy("-source_id")).toEqual(["c2", "c1", "c0"]);
    expect((await namesBy("-updated_at"))[0]).toBe("c1");
    expect((await namesBy("updated_at"))[0]).toBe("c1");
  });

  test("filters by email, city, name, segment and time ranges", async () => {
    const { list, create } = await createCustomers(3);
    await create({
      sourceId: "ada",
      name: "Ada",
      email: "ada@example.com",
      address: { city: "Paris" },
    });
    expect((await list({ email: "ada@example.com" })).names).toEqual(["Ada"]);
    expect((await list({ city: "Paris" })).names).toEqual(["Ada"]);
    expect((await list({ name: "c1" })).names).toEqual(["c1"]);
    expect((await list({ segmentId: "seg_1" })).total).toBe(0n);
    const range = { after: timestampFromMs(NOON), before: timestampFromMs(NOON + 2000) };
    expect((await list({ createdAt: range })).names).toEqual(["c1"]);
    expect((await list({ updatedAt: range })).names).toEqual([]);
  });

  test("pages by creation time with starting_after, and rejects it with an order by source id", async () => {
    const { list } = await createCustomers(4);
    const after = { startingAfter: timestampFromMs(NOON + 2000) };
    expect(await list(after)).toEqual({ names: ["c1", "c0"], total: 4n, hasMore: false });
    expect(await list({ ...after, limit: 1n })).toEqual({
      names: ["c1"],
      total: 4n,
      hasMore: true,
    });
    expect((await list({ ...after, order: "created_at" })).names).toEqual(["c3"]);
    await expect(list({ ...after, order: "source_id" })).rejects.toMatchObject({
      key: "invalid_query_params",
    });
  });

  test.each(["created_at", "-created_at", "updated_at", "-updated_at"])(
    "returns customers of the same time exactly once over pages by %s",
    async (order) => {
      const { create, call } = newCustomers(loyalty);
      for (let i = 0; i < 25; i += 1) await create({ sourceId: `s${i}`, name: `c${i}` });
      for (let i = 0; i < 10; i += 1) await customers.updateCustomer({ customerId: `s${i}` }, call);
      const all = await customers.listCustomers({ order, limit: 100n }, call);
      const ids: string[] = [];
      let page: Init<typeof ListCustomersRequestSchema> | undefined = { order, limit: 7n };
      while (page !== undefined) {
        const {
          customers: listed,
          hasMore,
          moreStartingAfter,
        } = await customers.listCustomers(page, call);
        ids.push(...listed.map(({ id }) => id));
        expect(moreStartingAfter !== undefined).toBe(hasMore);
        page = hasMore ? { order, limit: 7n, startingAfter: moreStartingAfter } : undefined;
      }
      expect(ids).toEqual(all.customers.map(({ id }) => id));
      expect(new Set(ids).size).toBe(25);
    },
  );

  test("returns no cursor in lists by source id", async () => {
    const { call } = await createCustomers(2);
    const page = await customers.listCustomers({ order: "source_id", limit: 1n }, call);
    expect(page).toMatchObject({ hasMore: true });
    expect(page.moreStartingAfter).toBeUndefined();
  });
});
