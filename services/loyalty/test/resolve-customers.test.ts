import { newId } from "@scrip/ids";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const client = clientOf(CustomerService, createDirectTransport(routes(createDeps(db))));

test("looking a customer up never makes one", async () => {
  const { resolve } = givenProject();
  expect(await resolve({ sourceId: "ada" })).toBeUndefined();
  expect(await resolve({ id: "cust_unknown" }, true)).toBeUndefined();
  expect(await resolve({ sourceId: "ada" })).toBeUndefined();
});

test("an upsert makes the customer, overwrites what is sent and keeps the rest", async () => {
  const { resolve } = givenProject();
  const made = await resolve({ sourceId: "ada", name: "Ada", metadata: { a: 1, b: 2 } }, true);
  expect(made).toMatchObject({ sourceId: "ada", name: "Ada", metadata: { a: 1, b: 2 } });
  const changed = await resolve(
    { sourceId: "ada", email: "a@example.com", metadata: { b: null } },
    true,
  );
  expect(changed).toMatchObject({
    id: made?.id,
    name: "Ada",
    email: "a@example.com",
    metadata: { a: 1, b: null },
  });
  expect(await resolve({ id: made?.id ?? "" })).toMatchObject({ sourceId: "ada" });
});

test("the id decides when both are sent", async () => {
  const { resolve } = givenProject();
  const ada = await resolve({ sourceId: "ada" }, true);
  await resolve({ sourceId: "bob" }, true);
  expect(await resolve({ id: ada?.id ?? "", sourceId: "bob" }, true)).toMatchObject({
    id: ada?.id,
  });
});

test("a customer that is made by many requests at once is one customer", async () => {
  const { resolve } = givenProject();
  const all = await Promise.all(
    Array.from({ length: 20 }, () => resolve({ sourceId: "race" }, true)),
  );
  expect(new Set(all.map((customer) => customer?.id)).size).toBe(1);
});

test("what several requests say at once of the same and of other customers is all kept", async () => {
  const { resolve, resolveAll } = givenProject();
  const ids = ["ada", "bob", "cleo"];
  for (const sourceId of ids) await resolve({ sourceId }, true);
  const said = Array.from({ length: 30 }, (_, index) => ({
    sourceId: ids[index % 3] ?? "",
    metadata: { [`k${index}`]: index },
  }));
  await Promise.all([0, 10, 20].map((from) => resolveAll(said.slice(from, from + 10))));
  for (const [place, sourceId] of ids.entries()) {
    const keys = Array.from({ length: 10 }, (_, round) => round * 3 + place);
    expect((await resolve({ sourceId }))?.metadata).toEqual(
      Object.fromEntries(keys.map((key) => [`k${key}`, key])),
    );
  }
});

test("another project's customer is unknown", async () => {
  const ada = await givenProject().resolve({ sourceId: "ada" }, true);
  expect(await givenProject().resolve({ id: ada?.id ?? "" })).toBeUndefined();
});

type Said = {
  id?: string;
  sourceId?: string;
  name?: string;
  email?: string;
  metadata?: Record<string, string | number | null>;
};

function givenProject() {
  const call: Call = {
    project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
    requestId: "v-000000000000000000",
    deadline: Date.now() + 60_000,
    now: Date.parse("2026-03-01T12:00:00Z"),
    caller: { side: "server", id: "app_test" },
  };
  const ask = async (customers: readonly Said[], upsert: boolean) => {
    const queries = customers.map((customer) => ({ projectId: call.project.id, customer, upsert }));
    const { results: answers } = await client.resolveCustomers({ queries }, call);
    return answers.map(({ customer }) => customer);
  };
  const resolveAll = (customers: readonly Said[]) => ask(customers, true);
  const resolve = async (customer: Said, upsert = false) => {
    const [found] = await ask([customer], upsert);
    return found;
  };
  return { resolve, resolveAll };
}
