import { migratedDatabase } from "@scrip/testing";
import { findRedis } from "@scrip/testing/optional-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Api, createApi, inParallel, newCode, serverApi } from "../stack/api.ts";
import { type Cluster, startCluster } from "../stack/cluster.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok, voucherBody } from "../stack/rule-builders.ts";

/** Twelve processes, a broker and Redis take long to start on a busy machine. */
const TIMEOUT_MS = 240_000;

describe.skipIf(findRedis() === undefined)("two replicas of everything", () => {
  let cluster: Cluster;
  let one: Api;
  let other: Api;

  beforeAll(async () => {
    cluster = await startCluster({ database: await migratedDatabase() });
    const { headers } = await serverApi(cluster);
    [one, other] = cluster.gateways.map((url) => createApi(url, headers)) as [Api, Api];
  }, TIMEOUT_MS);
  afterAll(() => cluster?.[Symbol.asyncDispose](), TIMEOUT_MS);

  const lookups = async (source: string): Promise<number> => {
    let sum = 0;
    for (const name of ["gateway", "gateway-2"]) {
      const text = await (await fetch(cluster.metrics[name] ?? "")).text();
      const line = new RegExp(`^token_lookups_total{source="${source}"} (\\d+)$`, "m").exec(text);
      sum += Number(line?.[1] ?? 0);
    }
    return sum;
  };

  test("a token is read from the database once for both gateways", async () => {
    const readAtBoth = async () => {
      const { headers } = await serverApi(cluster);
      const before = { redis: await lookups("redis"), database: await lookups("database") };
      for (const url of cluster.gateways) await ok(createApi(url, headers).get("/v1/vouchers"));
      return {
        redis: (await lookups("redis")) - before.redis,
        database: (await lookups("database")) - before.database,
      };
    };
    // A gateway that gets no response of Redis within 50 milliseconds reads the database.
    await expect.poll(readAtBoth).toEqual({ redis: 1, database: 1 });
  });

  test("a token that one gateway revokes is rejected by the other", async () => {
    const { headers } = await serverApi(cluster);
    const apis = cluster.gateways.map((url) => createApi(url, headers));
    for (const api of apis) expect((await api.get("/v1/vouchers")).status).toBe(200);
    const token = headers["authorization"]?.slice("Bearer ".length) ?? "";
    const response = await fetch(`${cluster.gateways[0]}/v1/oauth/token/revoke`, {
      method: "POST",
      headers: { "x-app-id": cluster.keys.appId, "x-app-token": cluster.keys.appToken },
      body: new URLSearchParams({ access_token: token }),
    });
    expect(response.ok).toBe(true);
    // Redis has passed the message on, which a busy gateway may still have to read.
    await expect.poll(async () => (await apis[1]?.get("/v1/vouchers"))?.status).toBe(401);
  });

  test("a redemption repeated at the other gateway has the same response and one effect", async () => {
    const code = newCode("ONCE");
    await ok(one.post("/v1/vouchers", voucherBody({ code })));
    const key = { "idempotency-key": newCode("key") };
    const redeem = (api: Api) => api.post(`/v1/vouchers/${code}/redemption`, {}, key);
    const first = await redeem(one);
    const second = await redeem(other);
    expect([first.status, second.text]).toEqual([200, first.text]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const voucher = await ok(other.get(`/v1/vouchers/${code}`));
    expect(voucher["redemption"]).toMatchObject({ redeemed_quantity: 1 });
  });

  test(
    "orders paid at both gateways earn points once each, through Kafka",
    async () => {
      const program = await createLoyaltyProgram(one, { points: 0 });
      const rule = { event: "order.paid", loyalty: { type: "FIXED", points: 5 }, source: {} };
      const rules = `/v1/loyalties/${program.campaignId}/earning-rules`;
      await expect.poll(async () => (await one.post(rules, [rule])).status).toBe(200);
      const card = await program.createCard({ source_id: newCode("buyer") });
      await inParallel([...Array(20).keys()], 4, async (nth) => {
        const order = { source_id: newCode("order"), amount: 1000, status: "PAID" };
        await ok(
          (nth % 2 === 0 ? one : other).post("/v1/orders", { ...order, customer: card.customer }),
        );
      });
      await expect.poll(() => balanceOf(other, card)).toBe(100);
    },
    TIMEOUT_MS,
  );

  test(
    "redemptions succeed while a replica of each service is killed",
    async () => {
      const code = newCode("KILLED");
      await ok(one.post("/v1/vouchers", voucherBody({ code, redemption: { quantity: null } })));
      let redeemed = 0;
      const redeem = async (): Promise<void> => {
        await inParallel([...Array(20).keys()], 4, async (nth) => {
          const key = { "idempotency-key": newCode("key") };
          const api = nth % 2 === 0 ? one : other;
          await ok(api.post(`/v1/vouchers/${code}/redemption`, {}, key));
          redeemed += 1;
        });
      };
      for (const service of ["voucher", "validation", "loyalty"] as const) {
        await cluster.crash(service, redeem);
      }
      const voucher = await ok(one.get(`/v1/vouchers/${code}`));
      expect(voucher["redemption"]).toMatchObject({ redeemed_quantity: redeemed });
    },
    TIMEOUT_MS,
  );
});
