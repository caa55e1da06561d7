import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { isForeignKeyViolation } from "@scrip/postgres";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { asAdmin, testDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(createDeps(db)));
const customers = clientOf(CustomerService, transport);
const segments = clientOf(SegmentService, transport);

const callOf = (projectId: string): Call => ({
  project: { id: projectId, timeZone: "America/New_York", caseSensitiveCodes: true },
  requestId: "v-000000000000000000",
  deadline: Date.now() + 60_000,
  // The evening of February 28 in New York.
  now: Date.parse("2026-03-01T03:00:00Z"),
  caller: { side: "server", id: "app_test" },
});

/** Ada has bought, Bob was born on a leap day, Cy has nothing but a source id. */
async function givenCustomers() {
  const call = callOf(newId("proj"));
  const make = async (said: object): Promise<string> =>
    (await customers.createCustomer(said, call)).id;
  const ada = await make({
    sourceId: "ada",
    name: "Ada L.",
    email: "ada@example.com",
    phone: "+44",
    address: { city: "London", country: "GB" },
    birthdate: "1990-12-10",
    metadata: { tier: "gold", visits: 12, tags: ["a", "b"], since: "2025-06-01T00:00:00Z" },
  });
  const bob = await make({
    sourceId: "bob",
    name: "Bob",
    description: "loud",
    country: "PL",
    birthdate: "2000-02-29",
    metadata: { tier: "silver", visits: 3 },
  });
  const cy = await make({ sourceId: "cy" });
  await db.query(
    "insert into customer_redemptions (project_id, customer_id, succeeded, gift_amount) values ($1, $2, 3, 700)",
    [call.project.id, ada],
  );
  await db.query(
    `insert into customer_order (project_id, order_id, customer_id, amount, changed_at)
     values ($1, 'ord_1', $2, 1000, '2026-02-01Z'), ($1, 'ord_2', $2, 501, '2026-02-28Z')`,
    [call.project.id, ada],
  );
  return { call, ids: { ada, bob, cy } };
}

const is = (operator: string, value: JsonValue) => ({ conditions: { [operator]: value } });

describe("who a list finds in a segment is who is in it", () => {
  test.each<[string, JsonObject, string[]]>([
    ["name", { name: is("$contains", "ad") }, ["ada"]],
    ["source id", { source_id: is("$in", ["bob", "cy"]) }, ["bob", "cy"]],
    ["email", { email: is("$ends_with", "@EXAMPLE.com") }, ["ada"]],
    ["phone", { phone: is("$has_value", "") }, ["ada"]],
    ["description", { description: is("$is_not", "loud") }, ["ada", "cy"]],
    ["country", { "address.country": is("$is", "PL") }, ["bob"]],
    ["city", { "address.city": is("$is_unknown", "") }, ["bob", "cy"]],
    ["a birthday on a leap day", { birthdate: is("$today_md", "") }, ["bob"]],
    ["a birth before a day", { birthdate: is("$before", "1995-01-01") }, ["ada"]],
    ["age as a customer", { created_at: is("$today", "") }, ["ada", "bob", "cy"]],
    ["no change", { updated_at: is("$is_unknown", "") }, ["ada", "bob", "cy"]],
    ["metadata", { "metadata.tier": is("$is", "gold") }, ["ada"]],
    ["a number in metadata", { "metadata.visits": is("$more_than_equal", 3) }, ["ada", "bob"]],
    ["a list in metadata", { "metadata.tags": is("$contains", "b") }, ["ada"]],
    ["a date in metadata", { "metadata.since": is("$after", "2025-05-31") }, ["ada"]],
    ["redemptions", { "summary.redemptions.total_redeemed": is("$less_than", 3) }, ["bob", "cy"]],
    ["redemptions too", { "summary.redemptions.total_succeeded": is("$is", 3) }, ["ada"]],
    ["gifts", { "summary.redemptions.gift.redeemed_amount": is("$count", 700) }, ["ada"]],
    ["what was spent", { "summary.orders.total_amount": is("$more_than", 1_500) }, ["ada"]],
    ["orders", { "summary.orders.total_count": is("$is", 0) }, ["bob", "cy"]],
    ["an average", { "summary.orders.average_amount": is("$is", 751) }, ["ada"]],
    ["no average", { "summary.orders.average_amount": is("$is", 0) }, ["bob", "cy"]],
    ["the last order", { "summary.orders.last_order_amount": is("$is", 501) }, ["ada"]],
    ["its day", { "summary.orders.last_order_date": is("$yesterday", "") }, ["ada"]],
    [
      "any of several",
      {
        junction: "or",
        "metadata.visits": is("$is", 3),
        "summary.orders.total_count": is("$is", 2),
      },
      ["ada", "bob"],
    ],
    ["all of several", { name: is("$has_value", ""), "address.country": is("$is", "GB") }, ["ada"]],
    ["nothing at all", {}, ["ada", "bob", "cy"]],
  ])("by %s", async (_name, filter, expected) => {
    const { call } = await givenCustomers();
    const { id } = await segments.createSegment({ name: "some", type: "passive", filter }, call);
    const listed = await customers.listCustomers({ segmentId: id, order: "source_id" }, call);
    expect(listed.customers.map(({ sourceId }) => sourceId)).toEqual(expected);
    expect(listed.total).toBe(BigInt(expected.length));

    const found: string[] = [];
    for (const name of ["ada", "bob", "cy"]) {
      const { data } = await segments.listCustomerSegments({ customerId: name }, call);
      if (data.some((each) => each.id === id)) found.push(name);
    }
    expect(found).toEqual(expected);
  });
});

describe("a question about customers", () => {
  test("is answered their segments only when it asks for them", async () => {
    const { call, ids } = await givenCustomers();
    const gold = await segments.createSegment(
      { name: "gold", type: "auto-update", filter: { "metadata.tier": is("$is", "gold") } },
      call,
    );
    const listed = await segments.createSegment(
      { name: "listed", type: "static", customers: [ids.ada, ids.cy, ids.cy] },
      call,
    );
    const ask = async (customer: object, withSegments = true) => {
      const query = { projectId: call.project.id, customer, withSegments, timeZone: "UTC" };
      return (await customers.resolveCustomers({ queries: [query] }, call)).results[0]!.segmentIds;
    };
    expect(await ask({ id: ids.ada })).toEqual([gold.id, listed.id].toSorted());
    expect(await ask({ id: ids.ada }, false)).toEqual([]);
    expect(await ask({ sourceId: "cy" })).toEqual([listed.id]);
    // What is sent counts as if it were stored, and so it does for somebody who is not.
    expect(await ask({ sourceId: "bob", metadata: { tier: "gold" } })).toEqual([gold.id]);
    expect(await ask({ sourceId: "new", metadata: { tier: "gold" } })).toEqual([gold.id]);
    expect(await ask({ sourceId: "new" })).toEqual([]);
    expect(await ask({ id: ids.ada, metadata: { tier: "none" } })).toEqual([listed.id]);
  });

  test("is answered for many customers of several projects at once", async () => {
    const shops = [await givenCustomers(), await givenCustomers()];
    const made = await Promise.all(
      shops.map(({ call }, index) =>
        segments.createSegment(
          {
            name: "s",
            type: "passive",
            filter: { name: is("$is", index === 0 ? "Bob" : "Ada L.") },
          },
          call,
        ),
      ),
    );
    const queries = shops.flatMap(({ call }) =>
      ["ada", "bob", "cy"].map((sourceId) => ({
        projectId: call.project.id,
        customer: { sourceId },
        withSegments: true,
      })),
    );
    const { results: answers } = await customers.resolveCustomers({ queries }, shops[0]!.call);
    expect(answers.map(({ segmentIds }) => segmentIds)).toEqual([
      [],
      [made[0]!.id],
      [],
      [made[1]!.id],
      [],
      [],
    ]);
  });
});

test("somebody unknown is in the segments that tell nothing about a customer", async () => {
  const { call } = await givenCustomers();
  const make = (filter: JsonObject) =>
    segments.createSegment({ name: "n", type: "passive", filter }, call);
  const poor = await make({ "summary.orders.total_count": is("$is", 0) });
  await make({ name: is("$has_value", "") });
  const { data, total } = await segments.listCustomerSegments({ customerId: "unknown" }, call);
  expect(data).toMatchObject([{ id: poor.id, name: "n" }]);
  expect(total).toBe(1n);
});

test("a customer who is deleted leaves the segments that listed him", async () => {
  const { call, ids } = await givenCustomers();
  await segments.createSegment({ name: "a", type: "static", customers: [ids.ada, ids.bob] }, call);
  await segments.createSegment({ name: "b", type: "static", customers: [ids.ada] }, call);
  const gone = await customers.deleteCustomerPermanently({ customerId: "ada" }, call);
  expect(gone.dataJson).toMatchObject({ customer: 1n, segments: 2n });
});

test("a project has a hundred segments with filters at most, also when they are made at once", async () => {
  const call = callOf(newId("proj"));
  const outcomes = await Promise.allSettled(
    Array.from({ length: 105 }, (_, index) =>
      segments.createSegment({ name: `s${index}`, type: "auto-update", filter: {} }, call),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  await segments.createSegment({ name: "static", type: "static" }, call);
});

test("a static segment takes 20,000 customers at once", async () => {
  const call = callOf(newId("proj"));
  const { rows } = await db.query<{ id: string }>(
    `insert into customer (project_id, id, created_at)
     select $1, 'cust_' || n, now() from generate_series(1, 20000) n returning id`,
    [call.project.id],
  );
  const ids = rows.map(({ id }) => id);
  const { id } = await segments.createSegment(
    { name: "all", type: "static", customers: ids },
    call,
  );
  const { total } = await customers.listCustomers({ segmentId: id }, call);
  expect(total).toBe(20_000n);
  const more = [...ids.slice(1), "cust_unknown"];
  await expect(
    segments.createSegment({ name: "more", type: "static", customers: more }, call),
  ).rejects.toMatchObject({ key: "not_found", options: { resourceId: "cust_unknown" } });
});

test("a customer who is deleted meanwhile is not there", async () => {
  const { call, ids } = await givenCustomers();
  const make = (): Promise<unknown> =>
    segments.createSegment({ name: "some", type: "static", customers: [ids.cy, ids.ada] }, call);
  let made: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await tx.query("delete from customer where project_id = $1 and id = $2", [
      call.project.id,
      ids.ada,
    ]);
    made = make();
    let isOver = false;
    void made.catch(() => {}).then(() => (isOver = true));
    await expect.poll(async () => isOver || (await countWaiting()) > 0).toBe(true);
  });
  // On a slow machine it has given the wait up, and is asked for again.
  const again = async (error: unknown): Promise<unknown> => {
    if (isForeignKeyViolation(error, "segment_customer_of_customer")) throw error;
    return make();
  };
  await expect(made?.catch(again)).rejects.toMatchObject({
    key: "not_found",
    options: { resourceId: ids.ada, resourceType: "customer" },
  });
});

const countWaiting = (): Promise<number> =>
  asAdmin(db.url, async (client) => {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  });
