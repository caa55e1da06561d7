import { afterAll, describe, expect, test } from "vitest";

import {
  type Api,
  type ApiResponse,
  createApi,
  inParallel,
  type Json,
  newCode,
  newProject,
} from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, crashableStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("contested by two replicas (%s)", async (composition) => {
  const stack = await crashableStack(composition);
  afterAll(() => stack.stopReplicas());
  const { api } = await newProject(stack);
  const replica = createApiAt(api, await stack.startReplica());
  const { createVoucher, createRule, createCampaign } = ruleBuilders(api);

  /** Sends all requests at once, every second one to the replica. */
  const race = (count: number, send: (api: Api, n: number) => Promise<ApiResponse>) =>
    Promise.all(times(count).map((n) => send(n % 2 === 0 ? api : replica, n)));
  const redeem = (from: Api, code: string, body: Json = {}): Promise<ApiResponse> =>
    from.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 1_000 }, ...body });
  const createCode = async (body: Json = {}): Promise<string> =>
    (await createVoucher(body))["code"];
  const redeemedQuantityOf = async (code: string): Promise<number> =>
    (await ok(api.get(`/v1/vouchers/${code}`)))["redemption"].redeemed_quantity;

  test("40 parallel upserts of an order by source id succeed, and none is lost", async () => {
    const source = newCode("order");
    const responses = await race(40, (from, n) =>
      from.post(
        "/v1/orders",
        { source_id: source, amount: 1_000 + n, metadata: { [`n${n}`]: n } },
        // Requests with a key claim the order in the transaction of their key.
        n % 3 === 0 ? { "idempotency-key": newCode("key") } : {},
      ),
    );
    expect(outcomesOf(responses)).toEqual({ "200": 40 });
    expect(new Set(responses.map(({ body }) => body["id"])).size).toBe(1);
    const stored = await ok(api.get(`/v1/orders/${source}`));
    // Metadata is merged, so each upsert worked on the result of the one before.
    expect(Object.keys(stored["metadata"])).toHaveLength(40);
    const last = responses.find(({ body }) => Object.keys(body["metadata"]).length === 40);
    expect(stored).toEqual(last?.body);
  });

  test("parallel rollbacks of one redemption return its value once", async () => {
    const program = await createLoyaltyProgram(api);
    const card = await program.createCard();
    const gift = await createCode(giftOf(1_000));
    const coupon = await createCode({ redemption: { quantity: 5 } });
    const order = (): Json => ({ order: { source_id: newCode("order"), amount: 1_000 } });
    const redeemedOf = async (request: Promise<ApiResponse>): Promise<Json> => {
      const body = await ok(request);
      return body["parent_redemption"] ?? body["redemptions"]?.[0] ?? body;
    };
    const redeemables = [coupon, gift].map((id) => ({ object: "voucher", id }));
    const redemptions = [
      await redeemedOf(redeem(api, coupon, order())),
      await redeemedOf(redeem(api, coupon, { order: null })),
      await redeemedOf(redeem(api, gift, { ...order(), gift: { credits: 300 } })),
      await redeemedOf(
        redeem(api, card.code, {
          ...order(),
          customer: card.customer,
          reward: { id: program.rewardId },
        }),
      ),
      await redeemedOf(api.post("/v1/redemptions", { redeemables, ...order() })),
    ];
    for (const { id } of redemptions) {
      const responses = await race(20, (from) => from.post(`/v1/redemptions/${id}/rollbacks`));
      expect(outcomesOf(responses)).toEqual({ "200": 1, already_rolled_back: 19 });
      expect(await ok(api.get(`/v1/redemptions/${id}`))).toMatchObject({ status: "ROLLED_BACK" });
    }
    expect(await redeemedQuantityOf(coupon)).toBe(0);
    expect((await ok(api.get(`/v1/vouchers/${gift}`)))["gift"].balance).toBe(1_000);
    expect(await balanceOf(api, card)).toBe(1_000);
  });

  test("redemptions, rollbacks and edits of one order wait for each other", async () => {
    const source = newCode("order");
    const code = await createCode({ discount: { type: "AMOUNT", amount_off: 10 } });
    const order = { source_id: source, amount: 10_000 };
    const first = await inParallel(times(5), 1, () => ok(redeem(api, code, { order })));
    const responses = await race(30, (from, n) => {
      const redemption = first[n / 3];
      if (redemption !== undefined)
        return from.post(`/v1/redemptions/${redemption["id"]}/rollback`);
      return n % 3 === 1
        ? redeem(from, code, { order: { source_id: source } })
        : from.put(`/v1/orders/${source}`, { metadata: { [`n${n}`]: n } });
    });
    expect(outcomesOf(responses)).toEqual({ "200": 30 });
    const stored = await ok(api.get(`/v1/orders/${source}`));
    const entries: Json[] = Object.values(stored["redemptions"]);
    const made = responses.filter(({ body }) => body["object"] === "redemption").length;
    const edited = responses.filter(({ body }) => body["object"] === "order").length;
    expect([entries.length, entries.filter((entry) => entry["rollback_id"]).length]).toEqual([
      made + 5,
      5,
    ]);
    expect(Object.keys(stored["metadata"])).toHaveLength(edited);
    expect(stored["total_discount_amount"]).toBe(made * 10);
    expect(await redeemedQuantityOf(code)).toBe(made);
  });

  test("the last use goes to one of two sessions or to a request without one", async () => {
    const codes = await inParallel(times(8), 4, () => createCode({ redemption: { quantity: 1 } }));
    const keys = [newCode("session"), newCode("session"), undefined];
    const sessionOf = (key: string | undefined): Json =>
      key === undefined ? {} : { session: { type: "LOCK", key } };
    const attempts = codes.flatMap((code) => keys.map((key) => ({ code, key })));
    for (const endpoint of ["validate", "redemption"]) {
      const responses = await race(attempts.length, (from, n) => {
        const { code, key } = attempts[n]!;
        const path = `/v1/vouchers/${code}/${key === undefined ? "redemption" : endpoint}`;
        return from.post(path, { order: { amount: 1_000 }, ...sessionOf(key) });
      });
      const { "200": _, ...rejected } = outcomesOf(responses);
      expect(Object.keys(rejected).filter((key) => key !== "quantity_exceeded")).toEqual([]);
    }
    for (const code of codes) expect(await redeemedQuantityOf(code)).toBe(1);
  });

  test("sessions and requests without one spend the credits and points of a card once", async () => {
    const program = await createLoyaltyProgram(api);
    const card = await program.createCard();
    const points = { customer: card.customer, reward: { id: program.rewardId, points: 600 } };
    const gift = await createCode(giftOf(1_000));
    const keys = [newCode("session"), newCode("session"), undefined];
    for (const [code, fields] of [
      [gift, { gift: { credits: 600 } }],
      [card.code, points],
    ] as const) {
      for (const endpoint of ["validate", "redemption"]) {
        await race(12, (from, n) => {
          const key = keys[n % 3];
          const session = key === undefined ? {} : { session: { type: "LOCK", key } };
          const path = `/v1/vouchers/${code}/${key === undefined ? "redemption" : endpoint}`;
          return from.post(path, { order: { amount: 60_000 }, ...fields, ...session });
        });
      }
      expect(await redeemedQuantityOf(code)).toBe(1);
    }
    expect((await ok(api.get(`/v1/vouchers/${gift}`)))["gift"].balance).toBe(400);
    expect(await balanceOf(api, card)).toBe(400);
  });

  test("a second redemption with the same session is rejected while one is in progress", async () => {
    const code = await createCode();
    const session = { type: "LOCK", key: newCode("session") };
    const order = { source_id: newCode("order"), amount: 1_000 };
    const responses = await race(20, (from) => redeem(from, code, { order, session }));
    const {
      "200": redeemed = 0,
      multiple_requests: rejected = 0,
      ...others
    } = outcomesOf(responses);
    expect(others).toEqual({});
    expect([redeemed + rejected, await redeemedQuantityOf(code)]).toEqual([20, redeemed]);
    expect(redeemed).toBeGreaterThan(0);
  });

  test.each(["", "?force=true"])(
    "a voucher that is deleted (%s) while it is redeemed is redeemed before or not found",
    async (query) => {
      for (const [body, fields] of [
        [{ redemption: { quantity: 100 } }, {}],
        [giftOf(10_000), { gift: { credits: 10 } }],
      ]) {
        const code = await createCode(body);
        const responses = await race(24, (from, n) =>
          n === 12
            ? from.delete(`/v1/vouchers/${code}${query}`)
            : redeem(from, code, {
                ...fields,
                order: { source_id: newCode("order"), amount: 100 },
              }),
        );
        expect(responses[12]?.status, responses[12]?.text).toBe(204);
        const {
          "200": redeemed = 0,
          "204": _,
          not_found: late = 0,
          ...others
        } = outcomesOf(responses);
        expect([redeemed + late, others]).toEqual([23, {}]);
        expect((await redeem(api, code)).status).toBe(404);
        for (const { body: redemption } of responses.filter(({ status }) => status === 200)) {
          const { order, id } = redemption;
          expect((await api.get(`/v1/redemptions/${id}`)).body).toMatchObject({
            result: "SUCCESS",
          });
          expect(await ok(api.get(`/v1/orders/${order.id}`))).toMatchObject({ status: "PAID" });
        }
      }
    },
  );

  test("a promotion tier, or a customer, that is deleted while it is redeemed is not found afterwards", async () => {
    const promotion = await createCampaign({ campaign_type: "PROMOTION", voucher: undefined });
    const action = { discount: { type: "AMOUNT", amount_off: 10 } };
    const { id: tier } = await ok(
      api.post(`/v1/promotions/${promotion["id"]}/tiers`, { name: "tier", action }),
    );
    const { id: customer } = await ok(api.post("/v1/customers", { source_id: newCode("ann") }));
    const code = await createCode();
    for (const [path, deleted] of [
      [`/v1/promotions/tiers/${tier}/redemption`, `/v1/promotions/tiers/${tier}`],
      [`/v1/vouchers/${code}/redemption`, `/v1/customers/${customer}`],
    ] as const) {
      const order = { source_id: newCode("order"), amount: 1_000 };
      const responses = await race(24, (from, n) =>
        n === 12 ? from.delete(deleted) : from.post(path, { order, customer: { id: customer } }),
      );
      expect(responses[12]?.status, responses[12]?.text).toBe(204);
      const {
        "200": redeemed = 0,
        not_found: late = 0,
        "204": _,
        ...others
      } = outcomesOf(responses);
      expect([redeemed + late, others]).toEqual([23, {}]);
      // Another process may use the definition for another second.
      const redeemLater = () => api.post(path, { customer: { id: customer } });
      await expect.poll(async () => (await redeemLater()).status, { timeout: 5_000 }).toBe(404);
      if (redeemed === 0) continue;
      const stored = await ok(api.get(`/v1/orders/${order.source_id}`));
      expect(Object.keys(stored["redemptions"])).toHaveLength(redeemed);
    }
  });

  test("a voucher that is updated and disabled while it is redeemed counts what succeeded", async () => {
    const code = await createCode({ discount: { type: "AMOUNT", amount_off: 10 } });
    const responses = await race(36, (from, n) => {
      if (n === 8)
        return from.put(`/v1/vouchers/${code}`, { discount: { type: "AMOUNT", amount_off: 30 } });
      return n === 20 ? from.post(`/v1/vouchers/${code}/disable`) : redeem(from, code);
    });
    const { "200": succeeded = 0, voucher_disabled: late = 0, ...others } = outcomesOf(responses);
    expect([succeeded + late, others]).toEqual([36, {}]);
    expect(await redeemedQuantityOf(code)).toBe(succeeded - 2);
    for (const { body } of responses.filter((one) => one.body["object"] === "redemption"))
      expect([10, 30]).toContain(body["order"].total_discount_amount);
    expect(outcomesOf([await redeem(replica, code)])).toEqual({ voucher_disabled: 1 });
  });

  test.each([
    { name: "campaign.redemptions.count", limit: 25, buyers: 50 },
    { name: "campaign.orders.amount", limit: 25_000, buyers: 50 },
    { name: "campaign.orders.amount_discounted", limit: 2_500, buyers: 1 },
    { name: "campaign.redemptions.customers_count", limit: 25, buyers: 1 },
    { name: "redemption.count.per_customer", limit: 25, buyers: 1 },
  ])("50 parallel redemptions use $name exactly", async ({ name, limit, buyers }) => {
    const rule = await createRule({
      rules: { "1": { name, conditions: { $less_than_or_equal: [limit] } }, logic: "1" },
    });
    const campaign = await createCampaign({ validation_rules: [rule["id"]], vouchers_count: 0 });
    const isPerVoucher = name === "redemption.count.per_customer";
    const codes = await inParallel(times(isPerVoucher ? 1 : 5), 1, async () => {
      const code = newCode("LIMIT");
      await ok(api.post(`/v1/campaigns/${campaign["id"]}/vouchers/${code}`));
      return code;
    });
    const names = times(buyers).map(() => newCode("buyer"));
    const redeemAll = (): Promise<ApiResponse[]> =>
      race(50, (from, n) =>
        redeem(from, codes[n % codes.length]!, { customer: { source_id: names[n % buyers] } }),
      );
    const responses = await redeemAll();
    expect(outcomesOf(responses)).toEqual({ "200": 25, redemption_rules_violated: 25 });
    // Rollbacks that race with redemptions free exactly what they return.
    const ids = responses.flatMap(({ status, body }) => (status === 200 ? [body["id"]] : []));
    const [rolledBack, again] = await Promise.all([
      race(5, (from, n) => from.post(`/v1/redemptions/${ids[n]}/rollback`)),
      redeemAll(),
    ]);
    expect(outcomesOf(rolledBack)).toEqual({ "200": 5 });
    const during = outcomesOf(again)["200"] ?? 0;
    expect(during).toBeLessThanOrEqual(5);
    expect(outcomesOf(await redeemAll())["200"] ?? 0).toBe(5 - during);
  });

  test("the last code of a campaign is published once", async () => {
    const campaign = await createCampaign({ vouchers_count: 3 });
    const responses = await race(30, (from) =>
      from.post("/v1/publications", { customer: newCode("racer"), campaign: campaign["name"] }),
    );
    expect(outcomesOf(responses)).toEqual({ "200": 3, no_voucher_suitable_for_publication: 27 });
    const published = responses.filter(({ status }) => status === 200);
    expect(new Set(published.map(({ body }) => body["voucher"].code)).size).toBe(3);
  });

  test("upserts and rollbacks that are repeated after kill -9 have their effect once", async () => {
    const source = newCode("order");
    const code = await createCode();
    const order = { source_id: source, amount: 10_000 };
    const redemption = await ok(redeem(api, code, { order }));
    const path = `/v1/redemptions/${redemption["id"]}/rollback`;
    const requests = times(30).map((n) => {
      const from = n % 2 === 0 ? api : replica;
      return n % 6 === 1
        ? untilFinal(() => from.post(path))
        : untilFinal(() =>
            from.post("/v1/orders", { source_id: source, metadata: { [`n${n}`]: n } }),
          );
    });
    await Promise.race(requests);
    await stack.crash(composition === "distributed" ? "validation" : undefined);
    const responses = await Promise.all(requests);
    // The killed process may have rolled back without a response.
    const { already_rolled_back: late = 0, ...others } = outcomesOf(responses);
    expect([late, others]).toEqual([expect.toBeOneOf([4, 5]), { "200": 30 - late }]);
    const stored = await ok(api.get(`/v1/orders/${source}`));
    expect(stored).toMatchObject({ id: redemption["order"].id, total_discount_amount: 0 });
    expect(Object.keys(stored["metadata"])).toHaveLength(25);
    expect(await redeemedQuantityOf(code)).toBe(0);
  });

  test("an order is free two seconds after kill -9, and no redemption of it is lost or made twice", async () => {
    const code = await createCode({ discount: { type: "AMOUNT", amount_off: 10 } });
    const orders = await inParallel(times(24), 8, async (n) => {
      const order = { source_id: newCode("order"), amount: 1_000 };
      await ok(api.post("/v1/orders", order));
      return { order, key: `${order.source_id} ${n}` };
    });
    const redeemOrder = (from: Api, source: string, key: string): Promise<ApiResponse> =>
      from.post(
        `/v1/vouchers/${code}/redemption`,
        { order: { source_id: source } },
        { "idempotency-key": key },
      );
    const interrupted = orders.map(({ order, key }) =>
      redeemOrder(api, order.source_id, key).catch(() => NO_CONNECTION),
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    await stack.crash(composition === "distributed" ? "validation" : undefined);
    await Promise.all(interrupted);
    // Requests wait up to six seconds for their order; the claims of the killed process end earlier.
    const others = orders.map(({ order, key }) =>
      redeemOrder(replica, order.source_id, `${key} again`),
    );
    expect(outcomesOf(await Promise.all(others))).toEqual({ "200": 24 });
    // The gateway may not know yet that the killed process serves again.
    const repeated = await Promise.all(
      orders.map(({ order, key }) => untilFinal(() => redeemOrder(api, order.source_id, key))),
    );
    expect(outcomesOf(repeated)).toEqual({ "200": 24 });
    expect(await redeemedQuantityOf(code)).toBe(48);
    for (const [n, { order }] of orders.entries()) {
      const stored = await ok(api.get(`/v1/orders/${order.source_id}`));
      expect(stored["total_discount_amount"], repeated[n]?.text).toBe(20);
      expect(Object.keys(stored["redemptions"])).toHaveLength(2);
    }
  });

  test("all invariants hold afterwards", async () => {
    expect(await invariantViolations(stack)).toEqual([]);
  });
});

const createApiAt = ({ headers }: Api, url: string): Api => createApi(url, headers);

const giftOf = (amount: number): Json => ({
  type: "GIFT_VOUCHER",
  discount: undefined,
  gift: { amount },
});

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** Many requests wait for the order while the killed process restarts. */
const untilFinal = (send: () => Promise<ApiResponse>): Promise<ApiResponse> =>
  retryUnavailable(
    () => send().catch(() => NO_CONNECTION),
    ({ body }) => body["key"] === "multiple_requests",
  );

/** How many responses have each error key, or each status where they have none. */
const outcomesOf = (responses: readonly ApiResponse[]): Record<string, number> => {
  const outcomes: Record<string, number> = {};
  for (const { status, body } of responses) {
    const outcome = status < 400 ? String(status) : String(body["key"]);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return outcomes;
};
