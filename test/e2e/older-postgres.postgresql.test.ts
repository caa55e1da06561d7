import { testDistributionPostgres } from "@scrip/testing";
import { afterAll, describe, expect, test, vi } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok, voucherBody } from "../stack/rule-builders.ts";

const postgres = await testDistributionPostgres();
const stack = await startComposition("standalone", { database: postgres });
afterAll(() => stack[Symbol.asyncDispose]());

describe(`PostgreSQL ${postgres.version} of the distribution, with the locale C`, async () => {
  const api = await serverApi(stack);

  test("redeems a contested code as often as it allows", async () => {
    const { code } = await ok(
      api.post("/v1/vouchers", voucherBody({ redemption: { quantity: 10 } })),
    );
    const order = { amount: 10_000, items: [{ source_id: "mug", quantity: 2 }] };
    const statuses = await inParallel(
      Array.from({ length: 40 }, () => newCode("key")),
      20,
      async (key) =>
        (
          await api.post(
            `/v1/vouchers/${code}/redemption`,
            { order, customer: { source_id: "ada" } },
            { "idempotency-key": key },
          )
        ).status,
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    const { redemptions } = await ok(api.get(`/v1/redemptions?limit=100&result=SUCCESS`));
    await ok(api.post(`/v1/redemptions/${redemptions[0]["id"]}/rollback`));
    expect((await ok(api.get(`/v1/vouchers/${code}`)))["redemption"].redeemed_quantity).toBe(9);
  });

  test.each([
    ["a part of the name, whatever the case", { name: { conditions: { $contains: "ÄRIE JØ" } } }],
    [
      "the beginning of the name, whatever the case",
      { name: { conditions: { $starts_with: "märie" } } },
    ],
    ["a date in metadata", { "metadata.since": { conditions: { $before: "2024-03-01" } } }],
    ["a number in metadata", { "metadata.level": { conditions: { $more_than: 2 } } }],
  ])("finds the customers of a segment by %s", async (_, filter) => {
    const members = newCode("members");
    const customer = (name: string, metadata: Json): Promise<Json> =>
      ok(
        api.post("/v1/customers", {
          source_id: newCode("customer"),
          name,
          email: members,
          metadata,
        }),
      );
    const found = await customer("Märie Jørgensen", { since: "2024-02-29", level: 3 });
    await customer("Ada", { since: "2024-02-30", level: 2 });
    const segment = await ok(
      api.post("/v1/segments", {
        name: members,
        type: "passive",
        filter: { ...filter, email: { conditions: { $is: [members] } }, junction: "and" },
      }),
    );
    const { customers } = await ok(api.get(`/v1/customers?segment_id=${segment["id"]}`));
    expect(customers.map(({ id }: Json) => id)).toEqual([found["id"]]);
  });

  test("finds vouchers by the beginning of their codes, whatever the case, and exports them", async () => {
    const code = `${newCode("search")}-Ä`;
    await ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 150 } }));
    const filters = { code: { conditions: { $starts_with: code.toUpperCase() } } };
    const { id } = await ok(
      api.post("/v1/exports", {
        exported_object: "voucher",
        parameters: { fields: ["code", "value"], filters },
      }),
    );
    await expect.poll(async () => (await ok(api.get(`/v1/exports/${id}`)))["status"]).toBe("DONE");
    const { result } = await ok(api.get(`/v1/exports/${id}`));
    const { pathname, search } = new URL(result.url, stack.url);
    const file = await fetch(`${stack.url}${pathname}${search}`);
    expect(await file.text()).toBe(`Code,Value\n${code},1.50\n`);
  });

  test("generates codes, publishes one, and sums the campaign up", async () => {
    const name = newCode("campaign");
    const campaign = await ok(
      api.post("/v1/campaigns", {
        name,
        campaign_type: "DISCOUNT_COUPONS",
        voucher: voucherBody(),
        vouchers_count: 20,
      }),
    );
    const path = `/v1/campaigns/${campaign["id"]}`;
    await expect.poll(async () => (await ok(api.get(path)))["vouchers_count"]).toBe(20);
    const publication = { campaign: { name }, customer: { source_id: newCode("ada") } };
    expect(await ok(api.post("/v1/publications", publication))).toMatchObject({
      result: "SUCCESS",
    });
    const { vouchers } = await ok(api.get(`/v1/vouchers?campaign=${name}&limit=100`));
    expect(vouchers).toHaveLength(20);
    expect((await api.get(`${path}/summary`)).status).toBe(200);
  });

  test("earns points for a paid order, spends them, and states the liability", async () => {
    const program = await createLoyaltyProgram(api, { points: 100 });
    const path = `/v1/loyalties/${program.campaignId}`;
    const rule = { event: "order.paid", loyalty: { type: "FIXED", points: 7 }, source: {} };
    await vi.waitFor(() => ok(api.post(`${path}/earning-rules`, [rule])), { timeout: 60_000 });
    const card = await program.createCard();
    const order = { source_id: newCode("order"), amount: 1_000, status: "PAID" };
    await ok(api.post("/v1/orders", { ...order, customer: card.customer }));
    await expect.poll(() => balanceOf(api, card)).toBe(107);
    await ok(api.post(`/v1/loyalties/members/${card.code}/balance`, { points: -50 }));
    expect(await ok(api.get(`${path}/liability`))).toMatchObject({ outstanding_points: 57 });
  });

  test("violates no invariant", async () => {
    await vi.waitFor(async () => expect(await invariantViolations(stack)).toEqual([]), {
      timeout: 60_000,
      interval: 1_000,
    });
  });
});
