import { afterAll, describe, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());

describe("ResolveCustomers", () => {
  test("creates no customer without upsert", async () => {
    const { resolve } = newProject();
    expect(await resolve({ sourceId: "ada" })).toBeUndefined();
    expect(await resolve({ id: "cust_unknown" }, true)).toBeUndefined();
    expect(await resolve({ sourceId: "ada" })).toBeUndefined();
  });

  test("creates a customer with upsert, overwrites sent fields and keeps the others", async () => {
    const { resolve } = newProject();
    const created = await resolve({ sourceId: "ada", name: "Ada", metadata: { a: 1, b: 2 } }, true);
    expect(created).toMatchObject({ sourceId: "ada", name: "Ada", metadata: { a: 1, b: 2 } });
    const changed = await resolve(
      { sourceId: "ada", email: "a@example.com", metadata: { b: null } },
      true,
    );
    expect(changed).toMatchObject({
      id: created?.id,
      name: "Ada",
      email: "a@example.com",
      metadata: { a: 1, b: null },
    });
    expect(await resolve({ id: created?.id ?? "" })).toMatchObject({ sourceId: "ada" });
  });

  test("gives an id precedence over a source id", async () => {
    const { resolve } = newProject();
    const ada = await resolve({ sourceId: "ada" }, true);
    await resolve({ sourceId: "bob" }, true);
    expect(await resolve({ id: ada?.id ?? "", sourceId: "bob" }, true)).toMatchObject({
      id: ada?.id,
    });
  });

  test("creates one customer for concurrent requests", async () => {
    const { resolve } = newProject();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => resolve({ sourceId: "race" }, true)),
    );
    expect(new Set(all.map((customer) => customer?.id)).size).toBe(1);
  });

  test("keeps the data of all concurrent requests for the same and other customers", async () => {
    const { resolve, resolveAll } = newProject();
    const ids = ["ada", "bob", "cleo"];
    for (const sourceId of ids) await resolve({ sourceId }, true);
    const inputs = Array.from({ length: 30 }, (_, index) => ({
      sourceId: ids[index % 3] ?? "",
      metadata: { [`k${index}`]: index },
    }));
    await Promise.all([0, 10, 20].map((from) => resolveAll(inputs.slice(from, from + 10))));
    for (const [place, sourceId] of ids.entries()) {
      const keys = Array.from({ length: 10 }, (_, round) => round * 3 + place);
      expect((await resolve({ sourceId }))?.metadata).toEqual(
        Object.fromEntries(keys.map((key) => [`k${key}`, key])),
      );
    }
  });

  test("does not find a customer of another project", async () => {
    const ada = await newProject().resolve({ sourceId: "ada" }, true);
    expect(await newProject().resolve({ id: ada?.id ?? "" })).toBeUndefined();
  });
});

type CustomerData = {
  id?: string;
  sourceId?: string;
  name?: string;
  email?: string;
  metadata?: Record<string, string | number | null>;
};

function newProject() {
  const call = newCall();
  const resolveBatch = async (customers: readonly CustomerData[], upsert: boolean) => {
    const queries = customers.map((customer) => ({ projectId: call.project.id, customer, upsert }));
    const { results } = await loyalty.customers.resolveCustomers({ queries }, call);
    return results.map(({ customer }) => customer);
  };
  const resolveAll = (customers: readonly CustomerData[]) => resolveBatch(customers, true);
  const resolve = async (customer: CustomerData, upsert = false) => {
    const [resolved] = await resolveBatch([customer], upsert);
    return resolved;
  };
  return { resolve, resolveAll };
}
