import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { evaluateSegments } from "../src/segment/evaluate-segments.ts";
import { followSegments } from "../src/segment/follow-segments.ts";
import { newCall } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, db, segments } = loyalty;

/** The evening of February 28 in New York. */
const newYorkCall = () => {
  const call = newCall({ now: Date.parse("2026-03-01T03:00:00Z") });
  return { ...call, project: { ...call.project, timeZone: "America/New_York" } };
};

/** Ada has orders, Bob was born on a leap day, Cy has nothing but a source id. */
async function createCustomers() {
  const call = newYorkCall();
  const create = async (request: object): Promise<string> =>
    (await customers.createCustomer(request, call)).id;
  const ada = await create({
    sourceId: "ada",
    name: "Ada L.",
    email: "ada@example.com",
    phone: "+44",
    address: { city: "London", country: "GB" },
    birthdate: "1990-12-10",
    metadata: { tier: "gold", visits: 12, tags: ["a", "b"], since: "2025-06-01T00:00:00Z" },
  });
  const bob = await create({
    sourceId: "bob",
    name: "Bob",
    description: "loud",
    country: "PL",
    birthdate: "2000-02-29",
    metadata: { tier: "silver", visits: 3 },
  });
  const cy = await create({ sourceId: "cy" });
  await db.query(
    `insert into customer_redemptions
            (project_id, customer_id, succeeded, gift_amount, failed, rolled_back, rollbacks_refused)
     values ($1, $2, 3, 700, 4, 5, 6)`,
    [call.project.id, ada],
  );
  await db.query(
    `insert into customer_order (project_id, order_id, customer_id, amount, changed_at)
     values ($1, 'ord_1', $2, 1000, '2026-02-01Z'), ($1, 'ord_2', $2, 501, '2026-02-28Z')`,
    [call.project.id, ada],
  );
  await db.query(
    `insert into loyalty_program (project_id, id, name, active, auto_join, validity, initial_points)
     values ($1, 'camp_1', 'Club', true, false, '{}', 0)`,
    [call.project.id],
  );
  await db.query(
    `insert into loyalty_member (project_id, card_id, campaign_id, customer_id, initial_points, joined_at)
     values ($1, 'v_1', 'camp_1', $2, 5, now()), ($1, 'v_2', null, $2, 40, now()), ($1, 'v_3', 'camp_1', $3, 7, now())`,
    [call.project.id, ada, bob],
  );
  await db.query(
    `insert into loyalty_card (project_id, id, points, redeemed_points, balance, opened_at)
     values ($1, 'v_1', 130, 30, 100, now())`,
    [call.project.id],
  );
  await db.query(
    `insert into custom_event (project_id, id, customer_id, name, metadata, created_at)
     values ($1, 'event_1', $2, 'page.count', '{}', now()), ($1, 'event_2', $2, 'page.count', '{}', now()),
            ($1, 'event_3', $3, 'other', '{}', now())`,
    [call.project.id, ada, bob],
  );
  return { call, ids: { ada, bob, cy } };
}

const is = (operator: string, value: JsonValue) => ({ conditions: { [operator]: value } });

describe("segment evaluation in memory and in SQL agrees", () => {
  test.each<[string, JsonObject, string[]]>([
    ["name", { name: is("$contains", "ad") }, ["ada"]],
    ["source id", { source_id: is("$in", ["bob", "cy"]) }, ["bob", "cy"]],
    ["email", { email: is("$ends_with", "@EXAMPLE.com") }, ["ada"]],
    ["phone", { phone: is("$has_value", "") }, ["ada"]],
    ["description", { description: is("$is_not", "loud") }, ["ada", "cy"]],
    ["country", { "address.country": is("$is", "PL") }, ["bob"]],
    ["city", { "address.city": is("$is_unknown", "") }, ["bob", "cy"]],
    ["a birthday on a leap day", { birthdate: is("$today_md", "") }, ["bob"]],
    ["a birthdate before a day", { birthdate: is("$before", "1995-01-01") }, ["ada"]],
    ["creation time", { created_at: is("$today", "") }, ["ada", "bob", "cy"]],
    ["update time", { updated_at: is("$is_unknown", "") }, ["ada", "bob", "cy"]],
    ["metadata", { "metadata.tier": is("$is", "gold") }, ["ada"]],
    ["a number in metadata", { "metadata.visits": is("$more_than_equal", 3) }, ["ada", "bob"]],
    ["a list in metadata", { "metadata.tags": is("$contains", "b") }, ["ada"]],
    ["a date in metadata", { "metadata.since": is("$after", "2025-05-31") }, ["ada"]],
    ["redemptions", { "summary.redemptions.total_redeemed": is("$less_than", 3) }, ["bob", "cy"]],
    ["failed redemptions", { "summary.redemptions.total_failed": is("$is", 4) }, ["ada"]],
    ["rollbacks", { "summary.redemptions.total_rolled_back": is("$is", 5) }, ["ada"]],
    [
      "successful rollbacks",
      { "summary.redemptions.total_rollback_succeeded": is("$is", 5) },
      ["ada"],
    ],
    ["failed rollbacks", { "summary.redemptions.total_rollback_failed": is("$is", 6) }, ["ada"]],
    ["a birthday", { birthday: is("$before", "1995-01-01") }, ["ada"]],
    ["successful redemptions", { "summary.redemptions.total_succeeded": is("$is", 3) }, ["ada"]],
    [
      "redeemed gift credits",
      { "summary.redemptions.gift.redeemed_amount": is("$count", 700) },
      ["ada"],
    ],
    ["order amount", { "summary.orders.total_amount": is("$more_than", 1_500) }, ["ada"]],
    ["order count", { "summary.orders.total_count": is("$is", 0) }, ["bob", "cy"]],
    ["average order amount", { "summary.orders.average_amount": is("$is", 751) }, ["ada"]],
    [
      "average order amount without orders",
      { "summary.orders.average_amount": is("$is", 0) },
      ["bob", "cy"],
    ],
    ["last order amount", { "summary.orders.last_order_amount": is("$is", 501) }, ["ada"]],
    ["last order date", { "summary.orders.last_order_date": is("$yesterday", "") }, ["ada"]],
    ["points", { "loyalty.points": is("$is", 140) }, ["ada"]],
    ["points to go", { "summary.redemptions.loyalty_card.points_to_go": is("$is", 140) }, ["ada"]],
    [
      "redeemed points",
      { "summary.redemptions.loyalty_card.redeemed_points": is("$is", 30) },
      ["ada"],
    ],
    ["no points", { "loyalty.points": is("$less_than", 1) }, ["cy"]],
    [
      "points of a program",
      { "loyalty_points.campaigns.Club.points": is("$in", [7, 100]) },
      ["ada", "bob"],
    ],
    ["custom events", { "events.page.count.count": is("$is", 2) }, ["ada"]],
    ["no custom events", { "events.page.count.count": is("$is", 0) }, ["bob", "cy"]],
    [
      "one of several conditions",
      {
        junction: "or",
        "metadata.visits": is("$is", 3),
        "summary.orders.total_count": is("$is", 2),
      },
      ["ada", "bob"],
    ],
    [
      "all of several conditions",
      { name: is("$has_value", ""), "address.country": is("$is", "GB") },
      ["ada"],
    ],
    ["no condition", {}, ["ada", "bob", "cy"]],
  ])("for a filter by %s", async (_name, filter, expected) => {
    const { call } = await createCustomers();
    const { id } = await segments.createSegment({ name: "some", type: "passive", filter }, call);
    const listed = await customers.listCustomers({ segmentId: id, order: "source_id" }, call);
    expect(listed.customers.map(({ sourceId }) => sourceId)).toEqual(expected);
    expect(listed.total).toBe(BigInt(expected.length));

    const members: string[] = [];
    for (const name of ["ada", "bob", "cy"]) {
      const { data } = await segments.listCustomerSegments({ customerId: name }, call);
      if (data.some((each) => each.id === id)) members.push(name);
    }
    expect(members).toEqual(expected);
  });
});

describe("a filter by segments", () => {
  test.each<[string, (ids: Readonly<Record<"listed" | "gold", string>>) => JsonValue, string[]]>([
    ["$in", ({ listed }) => [listed], ["bob", "cy"]],
    ["$is", ({ listed, gold }) => [listed, gold], ["ada", "bob", "cy"]],
    ["$contains", ({ gold }) => gold, ["ada"]],
    ["$not_in", ({ gold }) => [gold], ["bob", "cy"]],
    ["$is_not", ({ listed, gold }) => [gold, listed], []],
    ["$not_contain", ({ listed }) => listed, ["ada"]],
  ])("agrees in memory and in SQL for %s", async (operator, operands, expected) => {
    const { call, ids } = await createCustomers();
    const create = async (request: object): Promise<string> =>
      (await segments.createSegment({ name: "some", ...request }, call)).id;
    const named = {
      listed: await create({ type: "static", customers: [ids.bob, ids.cy] }),
      gold: await create({ type: "passive", filter: { "metadata.tier": is("$is", "gold") } }),
    };
    const filter = { segments: is(operator, operands(named)), source_id: is("$has_value", "") };
    const id = await create({ type: "passive", filter });
    const listed = await customers.listCustomers({ segmentId: id, order: "source_id" }, call);
    expect(listed.customers.map(({ sourceId }) => sourceId)).toEqual(expected);
    const members = await Promise.all(
      ["ada", "bob", "cy"].map(async (customerId) => {
        const { data } = await segments.listCustomerSegments({ customerId }, call);
        return data.some((each) => each.id === id) ? [customerId] : [];
      }),
    );
    expect(members.flat()).toEqual(expected);
  });

  test("is followed in segments of the type auto-update", async () => {
    const call = newCall();
    const { id: ada } = await customers.createCustomer({ sourceId: "ada" }, call);
    const create = async (request: object): Promise<string> =>
      (await segments.createSegment({ name: "some", ...request }, call)).id;
    const named = [
      await create({ type: "static", customers: [ada] }),
      await create({ type: "passive", filter: { "metadata.tier": is("$is", "gold") } }),
    ];
    const filter = { segments: is("$in", named), phone: is("$has_value", "") };
    const id = await create({ type: "auto-update", filter });
    const deps = createDeps(db);
    const members = async () => {
      while (await followSegments(deps)) {
        // There may be more.
      }
      const { rows } = await db.query<{ customer_id: string }>(
        "select customer_id from segment_member where project_id = $1 and segment_id = $2",
        [call.project.id, id],
      );
      return rows.map(({ customer_id: customerId }) => customerId).toSorted();
    };
    const { id: bob } = await customers.createCustomer({ sourceId: "bob", phone: "1" }, call);
    expect(await members()).toEqual([]);
    await customers.updateCustomer({ customerId: ada, phone: "2" }, call);
    await customers.updateCustomer({ customerId: bob, metadata: { tier: "gold" } }, call);
    expect(await members()).toEqual([ada, bob].toSorted());
    await customers.updateCustomer({ customerId: bob, metadata: { tier: "plain" } }, call);
    expect(await members()).toEqual([ada]);
  });
});

describe("ResolveCustomers with segments", () => {
  test("returns segments only to queries that request them", async () => {
    const { call, ids } = await createCustomers();
    const gold = await segments.createSegment(
      { name: "gold", type: "auto-update", filter: { "metadata.tier": is("$is", "gold") } },
      call,
    );
    const listed = await segments.createSegment(
      { name: "listed", type: "static", customers: [ids.ada, ids.cy, ids.cy] },
      call,
    );
    const segmentIdsOf = async (customer: object, withSegments = true) => {
      const query = { projectId: call.project.id, customer, withSegments, timeZone: "UTC" };
      return (await customers.resolveCustomers({ queries: [query] }, call)).results[0]!.segmentIds;
    };
    expect(await segmentIdsOf({ id: ids.ada })).toEqual([gold.id, listed.id].toSorted());
    expect(await segmentIdsOf({ id: ids.ada }, false)).toEqual([]);
    expect(await segmentIdsOf({ sourceId: "cy" })).toEqual([listed.id]);
    // Customer data of the request counts as if it were stored, also for an unknown customer.
    expect(await segmentIdsOf({ sourceId: "bob", metadata: { tier: "gold" } })).toEqual([gold.id]);
    expect(await segmentIdsOf({ sourceId: "new", metadata: { tier: "gold" } })).toEqual([gold.id]);
    expect(await segmentIdsOf({ sourceId: "new" })).toEqual([]);
    expect(await segmentIdsOf({ id: ids.ada, metadata: { tier: "none" } })).toEqual([listed.id]);
  });

  test("evaluates a batch of customers of several projects", async () => {
    const projects = [await createCustomers(), await createCustomers()];
    const created = await Promise.all(
      projects.map(({ call }, index) =>
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
    const queries = projects.flatMap(({ call }) =>
      ["ada", "bob", "cy"].map((sourceId) => ({
        projectId: call.project.id,
        customer: { sourceId },
        withSegments: true,
      })),
    );
    const { results } = await customers.resolveCustomers({ queries }, projects[0]!.call);
    expect(results.map(({ segmentIds }) => segmentIds)).toEqual([
      [],
      [created[0]!.id],
      [],
      [created[1]!.id],
      [],
      [],
    ]);
  });
});

describe("a segment whose filter only a newer version can read", () => {
  test("is reported to decisions by its id, and once to the log, while others are evaluated", async () => {
    const { call, ids } = await createCustomers();
    const projectId = call.project.id;
    const gold = await segments.createSegment(
      { name: "gold", type: "passive", filter: { "metadata.tier": is("$is", "gold") } },
      call,
    );
    await db.query(
      `insert into segment (project_id, id, name, type, filter, created_at)
       values ($1, 'seg_bad', 'newer', 'passive', '{"shoe_size": {"conditions": {"$is": 40}}}', now()),
              ($1, 'seg_naming', 'names it', 'passive', '{"segments": {"conditions": {"$not_in": ["seg_bad"]}}}', now())`,
      [projectId],
    );
    const errors: Error[] = [];
    const deps = createDeps(db, undefined, (error) => errors.push(error));
    const query = { projectId, customerId: ids.ada, input: undefined };
    const time = { now: call.now, timeZone: "UTC" };
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await evaluateSegments(deps, [{ ...query, time }])).toEqual([
        { segments: [{ id: gold.id, name: "gold" }], unreadable: ["seg_bad", "seg_naming"] },
      ]);
    }
    expect(errors.map(({ message }) => message)).toEqual([
      "segment seg_bad has an invalid filter: Unknown filter field shoe_size",
      "segment seg_naming has an invalid filter: Segment seg_bad cannot be read",
    ]);
    const resolve = { projectId, customer: { id: ids.ada }, withSegments: true };
    const { results } = await loyalty.replica().resolveCustomers({ queries: [resolve] }, call);
    expect(results).toMatchObject([
      { segmentIds: [gold.id], unreadableSegmentIds: ["seg_bad", "seg_naming"] },
    ]);
    const listed = await customers.listCustomers({ segmentId: gold.id }, call);
    expect(listed.total).toBe(1n);
    await expect(customers.listCustomers({ segmentId: "seg_bad" }, call)).rejects.toThrow(
      "segment seg_bad has an invalid filter",
    );
  });
});

describe("ListCustomerSegments", () => {
  test("returns for an unknown customer the segments whose filter a customer without data matches", async () => {
    const { call } = await createCustomers();
    const create = (filter: JsonObject) =>
      segments.createSegment({ name: "n", type: "passive", filter }, call);
    const newcomers = await create({ "summary.orders.total_count": is("$is", 0) });
    await create({ name: is("$has_value", "") });
    await create({ source_id: is("$is", "unknown") });
    const { data, total } = await segments.listCustomerSegments({ customerId: "unknown" }, call);
    expect(data).toMatchObject([{ id: newcomers.id, name: "n" }]);
    expect(total).toBe(1n);
  });
});
