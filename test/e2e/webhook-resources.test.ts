import { afterAll, describe, expect, test, vi } from "vitest";

import { inParallel, type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { startWebhookReceiver } from "../stack/webhook-receiver.ts";

const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

describe.each(COMPOSITIONS)("resources in webhooks (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);
  const { id: projectId, api } = await newProject(stack);
  const { createRule } = ruleBuilders(api);

  async function received(events: readonly string[], act: () => Promise<unknown>) {
    const path = newCode("hook");
    await ok(
      management.post(`/management/v1/projects/${projectId}/webhooks`, {
        target_url: receiver.urlOf(path),
        events,
      }),
    );
    await act();
    return await vi.waitFor(
      () => {
        const bodies = receiver.of(path).map(({ body }): Json => JSON.parse(body));
        const data = new Map(bodies.map(({ type, ...body }) => [type, body["data"]]));
        expect(new Set(data.keys())).toEqual(new Set(events));
        return data;
      },
      { timeout: 30_000, interval: 100 },
    );
  }

  test("have categories and validation rules as in responses, also those that a request left", async () => {
    const { id: rule } = await createRule();
    const code = newCode("gift");
    const data = await received(
      ["voucher.created", "voucher.gift.balance_added", "campaign.created"],
      async () => {
        await ok(
          api.post("/v1/vouchers", {
            code,
            gift: { amount: 1_000 },
            category: "Presents",
            validation_rules: [rule],
          }),
        );
        await ok(api.post(`/v1/vouchers/${code}/balance`, { amount: 500, reason: "Sorry" }));
        await ok(
          api.post("/v1/campaigns", {
            name: newCode("campaign"),
            campaign_type: "PROMOTION",
            category: "Presents",
            validation_rules: [rule],
          }),
        );
      },
    );
    const voucher = await ok(api.get(`/v1/vouchers/${code}`));
    expect(voucher).toMatchObject({ category: "Presents", categories: [{ name: "Presents" }] });
    expect(voucher["validation_rules_assignments"].total).toBe(1);
    expect(data.get("voucher.gift.balance_added").voucher).toEqual(voucher);
    expect(data.get("voucher.created").voucher).toEqual({
      ...voucher,
      gift: { ...voucher["gift"], amount: 1_000, balance: 1_000 },
      updated_at: null,
    });
    const { campaign } = data.get("campaign.created");
    expect(campaign).toEqual(await ok(api.get(`/v1/campaigns/${campaign.id}`)));
  });

  test("have the validation rules of assigned rewards", async () => {
    const { id: rule } = await createRule();
    const name = newCode("programme");
    const voucher = { loyalty_card: { points: 0 } };
    await ok(api.post("/v1/campaigns", { name, voucher }));
    const coin = { exchange_ratio: 1, points_ratio: 1 };
    const reward = { name: "Coins", type: "COIN", parameters: { coin } };
    const { id } = await ok(api.post("/v1/rewards", reward));
    const assignments = `/v1/rewards/${id}/assignments`;
    const data = await received(["campaign.reward.assignment.created"], () =>
      ok(api.post(assignments, { campaign: name, validation_rules: [rule] })),
    );
    const { data: listed } = await ok(api.get(assignments));
    expect(listed[0].validation_rules_assignments.total).toBe(1);
    expect(data.get("campaign.reward.assignment.created").reward_assignment).toEqual(listed[0]);
  });

  test("have the validation rules of more promotion tiers than one lookup takes", async () => {
    const { id: rule } = await createRule();
    const tiers = Array.from({ length: 201 }, (_, nth) => ({
      name: `Tier ${nth}`,
      action: { discount: { type: "AMOUNT", amount_off: 100 } },
    }));
    const promotion = { tiers: tiers.slice(0, 100) };
    const created = { name: newCode("tiers"), campaign_type: "PROMOTION", promotion };
    const { id } = await ok(api.post("/v1/campaigns", created));
    const path = `/v1/campaigns/${id}`;
    await inParallel(tiers.slice(100), 10, (tier) =>
      ok(api.post(`/v1/promotions/${id}/tiers`, { ...tier, validation_rules: [rule] })),
    );
    const data = await received(["campaign.updated"], () =>
      ok(api.put(path, { description: "Many" })),
    );
    expect(data.get("campaign.updated").campaign).toEqual(await ok(api.get(path)));
  });

  test("have the products of unit discounts", async () => {
    const { id } = await ok(api.post("/v1/products", { source_id: newCode("tea"), name: "Tea" }));
    const code = newCode("unit");
    const discount = { type: "UNIT", unit_off: 1, unit_type: id, effect: "ADD_NEW_ITEMS" };
    const data = await received(["voucher.created"], () =>
      ok(api.post("/v1/vouchers", { code, discount })),
    );
    const { voucher } = data.get("voucher.created");
    expect(voucher.discount).toMatchObject({ product: { id, name: "Tea" } });
    expect(voucher).toEqual(await ok(api.get(`/v1/vouchers/${code}`)));
  });

  test("have publications and transactions as their lists do", async () => {
    const code = newCode("gift");
    const customer = { source_id: newCode("c"), name: "Ann" };
    await ok(api.post("/v1/vouchers", { code, gift: { amount: 1_000 } }));
    const data = await received(
      ["publication.succeeded", "voucher.gift.balance_added"],
      async () => {
        await ok(
          api.post("/v1/publications", {
            customer,
            voucher: code,
            source_id: newCode("mail"),
            metadata: { letter: 7 },
          }),
        );
        await ok(api.post(`/v1/vouchers/${code}/balance`, { amount: 500, reason: "Sorry" }));
      },
    );
    const { publications } = await ok(api.get(`/v1/vouchers/${code}/publications`));
    const { publication } = data.get("publication.succeeded");
    expect(publication).toMatchObject({ customer, metadata: { letter: 7 }, result: "SUCCESS" });
    const { voucher: _, ...rest } = publications[0];
    expect(publication).toMatchObject(rest);
    const { data: transactions } = await ok(api.get(`/v1/vouchers/${code}/transactions`));
    expect(data.get("voucher.gift.balance_added").transaction).toEqual({
      ...transactions[0],
      amount: 500,
      balance: 1_500,
    });
  });

  test("have what customers hold", async () => {
    const name = newCode("programme");
    await ok(
      api.post("/v1/campaigns", {
        name,
        voucher: { loyalty_card: { points: 0 } },
        vouchers_count: 1,
      }),
    );
    const rule = { event: "order.paid", loyalty: { type: "FIXED", points: 7 } };
    await ok(api.post(`/v1/loyalties/${name}/earning-rules`, [rule]));
    const customer = { source_id: newCode("c") };
    await ok(api.post(`/v1/loyalties/${name}/members`, { customer }));
    const data = await received(
      ["customer.updated", "customer.rewarded.loyalty_points"],
      async () => {
        await ok(api.post("/v1/orders", { customer, amount: 100, status: "PAID" }));
        await vi.waitFor(
          async () =>
            expect(
              (await ok(api.get(`/v1/customers/${customer.source_id}`)))["loyalty"].points,
            ).toBe(7),
          { timeout: 30_000, interval: 100 },
        );
        await ok(api.put(`/v1/customers/${customer.source_id}`, { name: "Ann" }));
      },
    );
    const loyalty = {
      points: 7,
      referred_customers: 0,
      campaigns: { [name]: { points: 7, loyalty_tier: null, referred_customers: 0 } },
    };
    for (const { customer: sent } of data.values()) {
      expect(sent).toMatchObject({ ...customer, loyalty });
      expect(sent.summary.redemptions.loyalty_card.points_to_go).toBe(7);
    }
    const { transaction } = data.get("customer.rewarded.loyalty_points");
    expect(transaction).toMatchObject({
      points: 7,
      source: "Automation",
      details: { balance: { points: 7, balance: 7 }, earning_rule: { id: expect.any(String) } },
    });
  });
});
