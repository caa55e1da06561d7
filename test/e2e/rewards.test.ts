import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok, errorOf, rulesOf } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const COIN = { coin: { exchange_ratio: 0.25, points_ratio: 3 } };

describe.each(COMPOSITIONS)("rewards (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { id: mugId } = await ok(api.post("/v1/products", { name: "Mug" }));
  const MUG = { product: { id: mugId } };

  const reward = (body: Json): Promise<Json> => ok(api.post("/v1/rewards", body));
  const createProgram = async (): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("program"),
        campaign_type: "LOYALTY_PROGRAM",
        type: "AUTO_UPDATE",
        voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 1_000 } },
      }),
    );
  const coupons = async (): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("coupons"),
        campaign_type: "DISCOUNT_COUPONS",
        type: "AUTO_UPDATE",
        voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } },
      }),
    );

  test("applies a changed validation rule to the earning rules that refer to it", async () => {
    const program = await createLoyaltyProgram(api);
    const card = await program.createCard();
    const rule = (points: number) => ({
      rules: {
        "1": { name: "custom_event.metadata", property: "n", conditions: { $more_than: [points] } },
      },
    });
    const { id } = await ok(api.post("/v1/validation-rules", rule(5)));
    const event = newCode("event");
    const earning = { event, validation_rule_id: id, loyalty: { type: "FIXED", points: 7 } };
    await ok(api.post(`/v1/loyalties/${program.campaignId}/earning-rules`, [earning]));
    await ok(api.put(`/v1/validation-rules/${id}`, rule(1)));
    await expect
      .poll(
        async () => {
          await ok(api.post("/v1/events", { event, customer: card.customer, metadata: { n: 2 } }));
          return balanceOf(api, card);
        },
        { timeout: 20_000, interval: 300 },
      )
      .toBeGreaterThan(1_000);
  });

  test("are created, read, updated, listed and deleted", async () => {
    const created = await reward({
      name: "Mug",
      type: "MATERIAL",
      parameters: MUG,
      stock: 5,
      attributes: { description: "Blue" },
      metadata: { a: 1 },
    });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^rew_/),
      object: "reward",
      type: "MATERIAL",
      stock: 5,
      redeemed: 0,
      parameters: { product: { id: mugId, sku_id: null } },
      updated_at: null,
    });
    const path = `/v1/rewards/${created["id"]}`;
    const changed = await ok(api.put(path, { name: "Cup", stock: null, metadata: { b: 2 } }));
    expect(changed).toMatchObject({ name: "Cup", stock: null, metadata: { a: 1, b: 2 } });
    expect(changed["attributes"]).toEqual({ description: "Blue" });
    expect(await ok(api.get(path))).toEqual(changed);
    expect((await ok(api.get("/v1/rewards?limit=100")))["data"]).toContainEqual(changed);
    expect((await api.delete(path)).status).toBe(204);
    expect(await errorOf(api.get(path))).toEqual([404, "not_found", "reward"]);
    expect(await errorOf(api.delete(path))).toEqual([404, "not_found", "reward"]);
  });

  test("must have the parameters of their type", async () => {
    const { id } = await coupons();
    const gifts = await ok(
      api.post("/v1/campaigns", {
        name: newCode("gifts"),
        campaign_type: "GIFT_VOUCHERS",
        voucher: { type: "GIFT_VOUCHER", gift: { amount: 100 } },
      }),
    );
    const rejected: readonly (readonly [Json, string])[] = [
      [{ type: "COIN", parameters: MUG }, "invalid_payload"],
      [{ type: "MATERIAL", parameters: { ...MUG, ...COIN } }, "invalid_payload"],
      [{ type: "COIN", parameters: COIN, stock: 1 }, "invalid_payload"],
      [{ type: "COIN", parameters: { coin: { exchange_ratio: 0 } } }, "invalid_payload"],
      [{ type: "CAMPAIGN", parameters: { campaign: { id: "camp_none" } } }, "not_found"],
      [{ type: "CAMPAIGN", parameters: { campaign: { id: gifts["id"] } } }, "invalid_balance"],
    ];
    for (const [body, key] of rejected) {
      expect((await api.post("/v1/rewards", body)).body, JSON.stringify(body)).toMatchObject({
        key,
      });
    }
    const balance = { campaign: { id: gifts["name"], balance: 500 } };
    expect(await reward({ type: "CAMPAIGN", parameters: balance })).toMatchObject({
      parameters: { campaign: { id: gifts["id"], balance: 500, type: "GIFT_VOUCHERS" } },
    });
    expect(await reward({ type: "CAMPAIGN", parameters: { campaign: { id } } })).toMatchObject({
      parameters: { campaign: { id, type: "DISCOUNT_COUPONS" } },
    });
    expect(await reward({ type: "COIN", parameters: COIN })).toMatchObject({ parameters: COIN });
  });

  test("are assigned to programs, once and at a price unless they have a ratio", async () => {
    const { id: campaignId, name } = await createProgram();
    const mug = await reward({ type: "MATERIAL", parameters: MUG });
    const coin = await reward({ type: "COIN", parameters: COIN });
    const path = `/v1/rewards/${mug["id"]}/assignments`;
    const price = (points: number) => ({ parameters: { loyalty: { points } } });
    expect(await errorOf(api.post(path, { campaign: campaignId }))).toEqual([
      400,
      "missing_param",
      "Parameter 'parameters.loyalty' is required",
    ]);
    const other = await coupons();
    const foreign = api.post(path, { campaign: other["id"], ...price(5) });
    expect(await errorOf(foreign)).toEqual([404, "not_found", "campaign"]);

    const created = await ok(api.post(path, { campaign: name, ...price(5) }));
    expect(created).toMatchObject({
      id: expect.stringMatching(/^rewa_/),
      object: "reward_assignment",
      reward_id: mug["id"],
      related_object_id: campaignId,
      related_object_type: "campaign",
      parameters: { loyalty: { points: 5 } },
    });
    const again = await errorOf(api.post(path, { campaign: campaignId, ...price(5) }));
    expect(again.slice(0, 2)).toEqual([409, "duplicate_found"]);
    const coinPath = `/v1/rewards/${coin["id"]}/assignments`;
    const priced = await errorOf(api.post(coinPath, { campaign: campaignId, ...price(5) }));
    expect(priced.slice(0, 2)).toEqual([400, "invalid_payload"]);
    await ok(api.post(coinPath, { campaign: campaignId }));

    const inUse = await api.delete(`/v1/rewards/${mug["id"]}`);
    expect(inUse.body).toMatchObject({
      key: "resource_in_use",
      related_object_ids: [created["id"]],
      related_object_type: "reward_assignment",
    });
    expect(await ok(api.put(`${path}/${created["id"]}`, price(7)))).toMatchObject(price(7));
    expect(await ok(api.get(path))).toMatchObject({ data: [{ id: created["id"] }], total: 1 });
    expect(await ok(api.get(`/v1/rewards?assignment_id=${created["id"]}`))).toMatchObject({
      data: [{ id: mug["id"] }],
      total: 1,
    });

    const loyalty = `/v1/loyalties/${encodeURIComponent(name)}`;
    for (const list of [`${loyalty}/rewards`, `${loyalty}/reward-assignments`]) {
      expect(await ok(api.get(list))).toMatchObject({
        data: [{ reward: { id: coin["id"] } }, { id: created["id"], reward: { id: mug["id"] } }],
        total: 2,
      });
    }
    expect(
      await ok(api.get(`${loyalty}/reward-assignments/${created["id"]}/reward`)),
    ).toMatchObject({
      id: mug["id"],
    });
    expect(await ok(api.put(`${loyalty}/rewards/${created["id"]}`, price(9)))).toMatchObject(
      price(9),
    );
    expect(await errorOf(api.get(`/v1/loyalties/${other["id"]}/rewards`))).toEqual([
      404,
      "not_found",
      "campaign",
    ]);
    expect((await api.delete(`${loyalty}/rewards/${created["id"]}`)).status).toBe(204);
    expect(await errorOf(api.get(`${path}/${created["id"]}`))).toEqual([
      404,
      "not_found",
      "reward_assignment",
    ]);
    expect((await api.delete(`/v1/rewards/${mug["id"]}`)).status).toBe(204);
  });

  test("have validation rules on their assignments, which are deleted with them", async () => {
    const rule = await ok(
      api.post("/v1/validation-rules", {
        name: newCode("rule"),
        rules: { "1": { name: "order.amount", conditions: { $more_than: [100] } }, logic: "1" },
      }),
    );
    const program = await createLoyaltyProgram(api, { rules: [rule["id"]] });
    const path = `/v1/rewards/${program.rewardId}/assignments/${program.assignmentId}`;
    expect(rulesOf(await ok(api.get(path)))).toEqual([rule["id"]]);
    const two = { campaign: program.campaignId, validation_rules: [rule["id"], rule["id"]] };
    expect(await errorOf(api.post(`/v1/rewards/${program.rewardId}/assignments`, two))).toEqual([
      400,
      "invalid_payload",
      "Property .validation_rules must NOT have more than 1 items",
    ]);
    const other = await createLoyaltyProgram(api);
    const assigned = await ok(
      api.post(`/v1/validation-rules/${rule["id"]}/assignments`, {
        related_object_type: "reward_assignment",
        related_object_id: other.assignmentId,
      }),
    );
    expect(assigned).toMatchObject({ related_object_id: other.assignmentId });
    const unknown = api.post(`/v1/validation-rules/${rule["id"]}/assignments`, {
      related_object_type: "reward_assignment",
      related_object_id: "rewa_none",
    });
    expect(await errorOf(unknown)).toEqual([404, "not_found", "reward_assignment"]);
    for (const { rewardId, assignmentId } of [program, other]) {
      const one = `/v1/rewards/${rewardId}/assignments/${assignmentId}`;
      expect((await api.delete(one)).status).toBe(204);
    }
    expect((await api.delete(`/v1/validation-rules/${rule["id"]}`)).status).toBe(204);
  });

  test("cost their price in points while in stock", async () => {
    const program = await createLoyaltyProgram(api, { points: 500 });
    const mug = await reward({ type: "MATERIAL", name: "Mug", parameters: MUG, stock: 1 });
    await ok(
      api.post(`/v1/rewards/${mug["id"]}/assignments`, {
        campaign: program.campaignId,
        parameters: { loyalty: { points: 200 } },
      }),
    );
    const stockOf = async (): Promise<unknown[]> => {
      const { stock, redeemed } = await ok(api.get(`/v1/rewards/${mug["id"]}`));
      return [stock, redeemed];
    };
    const [first, second] = [await program.createCard(), await program.createCard()];
    const redeem = ({ code, customer }: typeof first) =>
      api.post(`/v1/vouchers/${code}/redemption`, { customer, reward: { id: mug["id"] } });
    const redeemed = await redeem(first);
    expect(redeemed.body, redeemed.text).toMatchObject({
      amount: 200,
      loyalty_card: { points: 200 },
      order: null,
      reward: { id: mug["id"], name: "Mug", type: "MATERIAL" },
      voucher: { loyalty_card: { balance: 300 } },
    });
    expect(await stockOf()).toEqual([1, 1]);
    expect((await redeem(second)).body).toMatchObject({ key: "reward_out_of_stock" });
    await ok(api.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`));
    expect(await stockOf()).toEqual([1, 0]);
    await ok(redeem(second));
    expect(await balanceOf(api, second)).toBe(300);
  });

  test("share one stock among all cards of a request", async () => {
    const customer = { source_id: newCode("holder") };
    const programs = [await createLoyaltyProgram(api), await createLoyaltyProgram(api)];
    const mug = await reward({ type: "MATERIAL", name: "Mug", parameters: MUG, stock: 1 });
    for (const { campaignId: campaign } of programs) {
      const parameters = { loyalty: { points: 200 } };
      await ok(api.post(`/v1/rewards/${mug["id"]}/assignments`, { campaign, parameters }));
    }
    const cards = await inParallel(programs, 1, (program) => program.createCard(customer));
    const redeemables = cards.map(({ code }) => ({
      object: "voucher",
      id: code,
      reward: { id: mug["id"] },
    }));
    const body = { customer, redeemables };
    const error = { key: "reward_out_of_stock", details: cards[1]?.code };
    expect(await ok(api.post("/v1/validations", body))).toMatchObject({
      valid: false,
      redeemables: [
        { status: "APPLICABLE" },
        { status: "INAPPLICABLE", id: cards[1]?.code, result: { error } },
      ],
    });
    const rejected = await api.post("/v1/redemptions", body);
    expect(rejected.status, rejected.text).toBe(400);
    expect(rejected.body).toMatchObject(error);
    expect(await inParallel(cards, 1, (card) => balanceOf(api, card))).toEqual([1_000, 1_000]);
  });
});
