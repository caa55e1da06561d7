import { create } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { holdProcessLock } from "@scrip/postgres";
import { OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { asAdmin, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import {
  abandonOrder,
  awaitOrder,
  type OrderClaimRequest,
  claimOrder,
  type HeldOrder,
  releaseOrder,
} from "../src/store/order-claims.ts";
import { findOrder, saveOrders } from "../src/store/orders.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
const living = await holdProcessLock({ url: db.url, name: "living" });
afterAll(async () => {
  await living[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const at = new Date("2026-03-01T12:00:00Z");

test("assigns a new source id to one of many concurrent requests, and returns its claim to the others", async () => {
  const claim = buildClaim("cart-1");
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      claimOrder(db, { ...claim, by: `request-${i}`, newId: newId("ord") }),
    ),
  );
  const claimed = outcomes.filter(({ kind }) => kind === "claimed");
  expect(claimed.length).toBe(1);
  const winner = outcomes.findIndex(({ kind }) => kind === "claimed");
  const losers = outcomes.filter(({ kind }) => kind === "taken");
  expect(losers).toEqual(losers.map(() => ({ kind: "taken", by: `request-${winner}` })));
});

test("does not return a claimed order until it is saved", async () => {
  const claim = buildClaim("cart-2");
  await claimOrder(db, claim);
  expect(await findOrder(db, claim.projectId, claim.key)).toBeUndefined();
  await saveOrders(db, [{ projectId: claim.projectId, order: orderOf(claim), at }]);
  expect(await findOrder(db, claim.projectId, claim.key)).toMatchObject({ amount: 500n });
});

test("ends the claim on saving, and returns the saved order to the next request", async () => {
  const claim = buildClaim("cart-3");
  await claimOrder(db, claim);
  await saveOrders(db, [{ projectId: claim.projectId, order: orderOf(claim), at }]);
  expect(await claimOrder(db, { ...claim, by: "next", newId: newId("ord") })).toMatchObject({
    kind: "claimed",
    id: claim.newId,
    order: { amount: 500n },
  });
});

test("releases a claim without a trace of a new order, and with the old state of a stored one", async () => {
  const claim = buildClaim("cart-4");
  await releaseOrder(db, await held(claim));
  const again = { ...claim, newId: newId("ord") };
  expect(await claimOrder(db, again)).toMatchObject({
    kind: "claimed",
    id: again.newId,
    order: null,
  });
  await saveOrders(db, [{ projectId: claim.projectId, order: orderOf(again), at }]);
  await releaseOrder(db, await held({ ...again, by: "third" }));
  expect(await findOrder(db, claim.projectId, claim.key)).toMatchObject({ amount: 500n });
});

test("releases a claim only for its claimant", async () => {
  const claim = buildClaim("cart-5");
  const earlier = await held(claim);
  await releaseOrder(db, { ...earlier, by: "somebody else" });
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({ kind: "taken" });
  await releaseOrder(db, earlier);
  // A repetition of the release, when the same request has claimed the order again.
  const later = await held(claim);
  await releaseOrder(db, earlier);
  await abandonOrder(db, earlier);
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({ kind: "taken" });
  await releaseOrder(db, later);
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({ kind: "claimed" });
});

test("gives the next turn with an order to the process that waits, and to all when its wait expires", async () => {
  const claim = buildClaim("cart-turns");
  const { projectId, key } = claim;
  const waiting = { ...claim, by: "waiting", process: 2 };
  const third = { ...claim, by: "third", process: 3 };
  const save = () => saveOrders(db, [{ projectId, order: orderOf(claim), at }]);
  await claimOrder(db, claim);
  await awaitOrder(db, waiting);
  await awaitOrder(db, third);
  await save();
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({ kind: "taken" });
  expect(await claimOrder(db, third)).toMatchObject({ kind: "taken" });
  expect(await claimOrder(db, waiting)).toMatchObject({ kind: "claimed" });
  await awaitOrder(db, third);
  await save();
  await db.query(
    "update shop_order set awaited_until = now() - interval '1 ms' where project_id = $1 and source_id = $2",
    [projectId, key.value],
  );
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({ kind: "claimed" });
});

test("lets another request take over an expired claim", async () => {
  const claim = buildClaim("cart-6");
  await claimOrder(db, claim);
  await db.query(
    "update shop_order set claimed_until = now() - interval '1 second' where project_id = $1",
    [claim.projectId],
  );
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({
    kind: "claimed",
    id: claim.newId,
  });
});

test("a claim of a process that has ended is taken over two seconds after it began", async () => {
  const ended = await holdProcessLock({ url: db.url, name: "ended" });
  const [orphaned, kept] = [buildClaim("cart-9"), buildClaim("cart-10")];
  for (const claim of [{ ...orphaned, process: ended.id }, kept]) {
    await claimOrder(db, claim);
    await saveOrders(db, [{ projectId: claim.projectId, order: orderOf(claim), at }]);
    await claimOrder(db, claim);
  }
  const begunAgo = (seconds: number) =>
    db.query(
      "update shop_order set claimed_until = clock_timestamp() + $2 * interval '1 second' where project_id = any($1)",
      [[orphaned.projectId, kept.projectId], 15 - seconds],
    );
  await begunAgo(5);
  expect(await claimOrder(db, { ...orphaned, by: "next" })).toMatchObject({ kind: "taken" });
  await ended[Symbol.asyncDispose]();
  await begunAgo(1);
  expect(await claimOrder(db, { ...orphaned, by: "next" })).toMatchObject({ kind: "taken" });
  await begunAgo(2.1);
  expect(await claimOrder(db, { ...kept, by: "next" })).toMatchObject({ kind: "taken" });
  // Not within two seconds of the start of PostgreSQL, when living processes may not have connected yet.
  await expect
    .poll(() => claimOrder(db, { ...orphaned, by: "next" }))
    .toMatchObject({ kind: "claimed", order: { amount: 500n } });
});

test("a living process holds its claims when its connection was lost", async () => {
  const claim = buildClaim("cart-11");
  await claimOrder(db, claim);
  const holder =
    "from pg_stat_activity where application_name = 'living' and datname = current_database()";
  const admin = (statement: string) =>
    asAdmin(db.url, async (client) => (await client.query<{ pid: number }>(statement)).rows);
  const [before] = await admin(`select pid ${holder}`);
  await admin(`select pg_terminate_backend(pid) ${holder}`);
  await expect
    .poll(() => admin(`select pid ${holder} and state = 'idle' and query like '%lock_shared%'`))
    .toEqual([{ pid: expect.not.toBeOneOf([before?.pid]) }]);
  await db.query(
    "update shop_order set claimed_until = clock_timestamp() + interval '5 seconds' where project_id = $1",
    [claim.projectId],
  );
  expect(await claimOrder(db, { ...claim, by: "next" })).toMatchObject({ kind: "taken" });
});

test("a repetition in the same process takes over a claim whose response was lost, two seconds after it began", async () => {
  const claim = buildClaim("cart-13");
  await claimOrder(db, claim);
  const begunAgo = (seconds: number) =>
    db.query(
      "update shop_order set claimed_until = clock_timestamp() + $2 * interval '1 second' where project_id = $1",
      [claim.projectId, 15 - seconds],
    );
  await begunAgo(1);
  expect(await claimOrder(db, claim)).toEqual({ kind: "taken", by: claim.by });
  await begunAgo(2.1);
  const others = [
    { ...claim, by: "next" },
    { ...claim, process: claim.process + 1 },
  ];
  for (const other of others) {
    expect(await claimOrder(db, other)).toEqual({ kind: "taken", by: claim.by });
  }
  expect(await claimOrder(db, claim)).toMatchObject({ kind: "claimed", id: claim.newId });
});

test("an abandoned claim ends two seconds later", async () => {
  const claim = buildClaim("cart-12");
  await abandonOrder(db, await held(claim));
  const { rows } = await db.query<{ soon: boolean }>(
    `select claimed_until between clock_timestamp() and clock_timestamp() + interval '2 seconds' as soon
       from shop_order where project_id = $1`,
    [claim.projectId],
  );
  expect(rows).toEqual([{ soon: true }]);
});

test("rejects claims of unknown ids and of other projects' orders", async () => {
  const claim = buildClaim("cart-7");
  await claimOrder(db, claim);
  await saveOrders(db, [{ projectId: claim.projectId, order: orderOf(claim), at }]);
  const byId = { ...claim, key: { column: "id", value: claim.newId } } as const;
  expect(await claimOrder(db, { ...byId, projectId: newId("proj") })).toEqual({
    kind: "not_found",
  });
  const unknown = { column: "id", value: "ord_unknown" } as const;
  expect(await claimOrder(db, { ...claim, key: unknown })).toEqual({ kind: "not_found" });
});

test("keeps the last state when a batch saves one order twice", async () => {
  const claim = buildClaim("cart-8");
  const order = orderOf(claim);
  await saveOrders(db, [
    { projectId: claim.projectId, order, at },
    { projectId: claim.projectId, order: { ...order, amount: 700n }, at },
  ]);
  expect(await findOrder(db, claim.projectId, claim.key)).toMatchObject({ amount: 700n });
});

/** Claims an order; returns what releases it. */
async function held(claim: OrderClaimRequest): Promise<HeldOrder> {
  const claimed = await claimOrder(db, claim);
  if (claimed.kind !== "claimed") throw new Error(`the claim is ${claimed.kind}`);
  return { projectId: claim.projectId, id: claimed.id, by: claim.by, until: claimed.until };
}

function buildClaim(sourceId: string): OrderClaimRequest {
  return {
    projectId: newId("proj"),
    key: { column: "source_id", value: sourceId },
    by: "first",
    process: living.id,
    newId: newId("ord"),
    at,
  };
}

const orderOf = (claim: OrderClaimRequest) =>
  create(OrderSchema, {
    id: claim.newId,
    sourceId: claim.key.value,
    status: OrderStatus.PAID,
    amount: 500n,
  });
