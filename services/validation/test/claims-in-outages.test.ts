import { newId, newRequestId } from "@scrip/ids";
import { createDatabase, isUnavailable } from "@scrip/postgres";
import { asAdmin, startTcpProxy, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { claimRequestedOrder } from "../src/order/order-claim.ts";
import { createOrderQueue } from "../src/order/order-queue.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { claimSessionObjects } from "../src/session/session-claim.ts";
import { awaitOrder } from "../src/store/order-claims.ts";

const database = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
const { hostname: host, port } = new URL(database.url);
const proxy = await startTcpProxy({ host, port: Number(port) });
const db = createDatabase({
  url: Object.assign(new URL(database.url), { hostname: "127.0.0.1", port: proxy.port }).href,
  schema: SCHEMA,
  role: ROLE,
  poolSize: 2,
  onError: () => {},
});
afterAll(async () => {
  await db.close();
  await proxy[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const newCall = () => ({
  project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
  requestId: newRequestId(),
  deadline: Date.now() + 60_000,
  now: Date.now(),
  caller: { side: "server", id: "app_test" } as const,
  idempotency: { key: "key", requestHash: Buffer.from("request") },
});

const deps = {
  db,
  newId,
  processId: 1,
  orderQueue: createOrderQueue({ maxWaiting: 10, maxWaitMs: 1_000 }),
  awaitOrder: (wait: Parameters<typeof awaitOrder>[1]) => awaitOrder(db, wait),
};

/** Well before the claim expires, which takes fifteen seconds. */
const SOON = { timeout: 5_000 };

const claimsOf = (projectId: string) =>
  asAdmin(database.url, async (client) => {
    const { rows } = await client.query<{ claims: number }>(
      `select ((select count(*) from validation.shop_order
                 where project_id = $1 and claimed_until > clock_timestamp() + interval '2 seconds')
             + (select count(*) from validation.session_claim where project_id = $1))::int as claims`,
      [projectId],
    );
    return rows[0]?.claims;
  });

test.each(["none", "unknown"] as const)(
  "a request that ends while the database is away (commit: %s) releases its order when it returns",
  async (state) => {
    const call = newCall();
    const order = { sourceId: "cart" } as Parameters<typeof claimRequestedOrder>[2];
    const claim = await claimRequestedOrder(deps, call, order);
    await proxy.close();
    await claim.end(state);
    expect(await claimsOf(call.project.id)).toBe(1);
    await proxy.open();
    await expect.poll(() => claimsOf(call.project.id), SOON).toBe(0);
  },
);

test("a request that ends while the database is away releases its session when it returns", async () => {
  const call = newCall();
  const claim = await claimSessionObjects(deps, call, { sessionKey: "s", objectIds: ["v_1"] });
  await proxy.close();
  await claim.release();
  expect(await claimsOf(call.project.id)).toBe(1);
  await proxy.open();
  await expect.poll(() => claimsOf(call.project.id), SOON).toBe(0);
});

test("a request that finds an object of its session claimed releases the others when the database returns", async () => {
  const call = newCall();
  const session = { sessionKey: "s", objectIds: ["v_2"] };
  await claimSessionObjects(deps, { ...call, requestId: newRequestId() }, session);
  // The database goes away after the claim.
  const losing = {
    ...deps,
    db: {
      ...db,
      query: async (...args: Parameters<typeof db.query>) => {
        const result = await db.query(...args);
        await proxy.close();
        return result;
      },
    } as typeof db,
  };
  const objectIds = ["v_1", "v_2", "v_3"];
  await expect(claimSessionObjects(losing, call, { ...session, objectIds })).rejects.toSatisfy(
    isUnavailable,
  );
  expect(await claimsOf(call.project.id)).toBe(3);
  await proxy.open();
  await expect.poll(() => claimsOf(call.project.id), SOON).toBe(1);
});
