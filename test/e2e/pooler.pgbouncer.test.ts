import { sessionStatement } from "@scrip/postgres";
import { migratedDatabase, testPgBouncer } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { SERVICES, startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ok, voucherBody } from "../stack/rule-builders.ts";

/** Fewer than one process has without a pooler. */
const POOL_SIZE = 3;

const database = await migratedDatabase();
const pooler = await testPgBouncer({
  url: database.url,
  connectQueries: Object.fromEntries(
    [...SERVICES, "gateway"].map((schema) => [
      schema,
      sessionStatement({ schema, role: `scrip_${schema}` }),
    ]),
  ),
  poolSize: POOL_SIZE,
});
afterAll(() => pooler[Symbol.asyncDispose]());
const stack = await startComposition("distributed", {
  database,
  env: { SCRIP_POOLER_URL: pooler.url, SCRIP_REPLICA_URL: database.url },
});
afterAll(() => stack[Symbol.asyncDispose]());

describe("all services behind PgBouncer in transaction mode", async () => {
  const api = await serverApi(stack);

  test("redeem a contested code as often as it allows, and repeat responses", async () => {
    const { code } = await ok(
      api.post("/v1/vouchers", voucherBody({ redemption: { quantity: 50 } })),
    );
    const responses = await inParallel(
      Array.from({ length: 300 }, () => ({ "idempotency-key": newCode("key") })),
      60,
      async (key) => {
        const path = `/v1/vouchers/${code}/redemption`;
        const body = { order: { amount: 10_000, items: [{ source_id: "mug", quantity: 2 }] } };
        const [first, second] = await Promise.all([
          api.post(path, body, key),
          api.post(path, body, key),
        ]);
        expect([200, 400]).toContain(first.status);
        if (second.status !== 409) expect(second.text).toBe(first.text);
        return first.status;
      },
    );
    expect(responses.filter((status) => status === 200)).toHaveLength(50);
  });

  test("keep campaigns, customers, points and lists", async () => {
    const name = newCode("club");
    const club = await ok(
      api.post("/v1/campaigns", {
        name,
        campaign_type: "LOYALTY_PROGRAM",
        voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 100 } },
        vouchers_count: 5,
      }),
    );
    const published = await ok(
      api.post("/v1/publications", {
        campaign: { name },
        customer: { source_id: newCode("ada"), name: "Ada" },
      }),
    );
    const card = published["voucher"].code;
    await inParallel([1, 2, 3, 4, 5, 6, 7, 8], 8, async (points) =>
      ok(api.post(`/v1/loyalties/members/${card}/balance`, { points })),
    );
    expect((await ok(api.get(`/v1/vouchers/${card}`)))["loyalty_card"].balance).toBe(136);
    await vi.waitFor(
      async () => {
        const listed = await ok(api.get(`/v1/vouchers?campaign_id=${club["id"]}&limit=100`));
        expect(listed["vouchers"].length).toBeGreaterThanOrEqual(5);
        const log = await ok(api.get("/v1/audit-log?limit=100&action=adjustMemberBalance"));
        expect(log["data"]).toHaveLength(8);
      },
      { timeout: 30_000, interval: 200 },
    );
  });

  test("violate no invariant, and have no more connections than the pooler", async () => {
    await vi.waitFor(async () => expect(await invariantViolations(stack)).toEqual([]), {
      timeout: 60_000,
      interval: 1_000,
    });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<Json>(
      `select application_name, count(*)::int as sessions from pg_stat_activity
        where datname = current_database() and application_name = any($1) group by 1`,
      [["voucher", "validation", "campaign", "loyalty"]],
    );
    await client.end();
    // Beside those of the pooler, a service has those for the lists of the replica.
    for (const { sessions } of rows) expect(sessions).toBeLessThanOrEqual(POOL_SIZE + 8);
  });
});
