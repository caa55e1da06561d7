import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** Time for events to be handled on a busy machine. */
const EVENT_TIMEOUT = { timeout: 60_000 };

describe.each(COMPOSITIONS)("customers (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("are created, read, updated and deleted by id or source id", async () => {
    const sourceId = `${newCode("ada")} & co/1`;
    const path = `/v1/customers/${encodeURIComponent(sourceId)}`;
    const created = await api.post("/v1/customers", {
      source_id: sourceId,
      name: "Ada",
      email: "ada@example.com",
      phone: "+48 1",
      country: "PL",
      address: { city: "Poznan", line_1: "1 Rynek", postal_code: "61-772" },
      birthdate: "1990-02-28",
      metadata: { vip: true, shoe: 38 },
      unknown: 1,
    });
    expect(created.status, created.text).toBe(200);
    const id = created.body["id"] as string;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^cust_[0-9a-f]{18}$/),
      source_id: sourceId,
      name: "Ada",
      description: null,
      email: "ada@example.com",
      phone: "+48 1",
      birthday: "1990-02-28",
      birthdate: "1990-02-28",
      address: {
        city: "Poznan",
        state: null,
        line_1: "1 Rynek",
        line_2: null,
        country: "PL",
        postal_code: "61-772",
      },
      metadata: { vip: true, shoe: 38 },
      system_metadata: {},
      summary: {
        redemptions: {
          total_redeemed: 0,
          total_failed: 0,
          total_succeeded: 0,
          total_rolled_back: 0,
          total_rollback_failed: 0,
          total_rollback_succeeded: 0,
          gift: { redeemed_amount: 0, amount_to_go: 0 },
          loyalty_card: { redeemed_points: 0, points_to_go: 0 },
        },
        orders: {
          total_amount: 0,
          total_count: 0,
          average_amount: 0,
          last_order_amount: 0,
          last_order_date: null,
        },
      },
      loyalty: { points: 0, referred_customers: 0, campaigns: {} },
      referrals: { total: 0, campaigns: [] },
      assets: {},
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: null,
      object: "customer",
    });
    expect((await api.get(path)).body).toEqual(created.body);
    expect((await api.get(`/v1/customers/${id}`)).body).toEqual(created.body);

    const changed = await api.put(path, {
      id: "cust_other",
      email: null,
      address: { city: "Gdansk", postal_code: null },
      metadata: { shoe: null },
    });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body).toMatchObject({
      id,
      source_id: sourceId,
      name: "Ada",
      email: null,
      address: { city: "Gdansk", line_1: "1 Rynek", country: "PL", postal_code: null },
      metadata: { vip: true, shoe: null },
    });
    const cleared = await api.post("/v1/customers", { id, address: null, birthdate: null });
    expect(cleared.body).toMatchObject({ id, address: null, birthdate: null, birthday: null });

    expect((await api.delete(`/v1/customers/${id}`)).status).toBe(204);
    const afterDeletion = await api.get(path);
    expect(afterDeletion.status).toBe(404);
    expect(afterDeletion.body).toMatchObject({
      key: "not_found",
      message: "Resource not found",
      details: `Cannot find customer with id ${sourceId}`,
      resource_id: sourceId,
      resource_type: "customer",
    });
  });

  test("are deleted permanently, and the response reports the deleted data", async () => {
    const { body } = await api.post("/v1/customers", { source_id: newCode("gone") });
    const deleted = await api.post(`/v1/customers/${body["id"]}/permanent-deletion`);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^del_/),
        related_object_id: body["id"],
        related_object: "customer",
        status: "DONE",
        data_json: {
          events: 0,
          customer_events: 0,
          daily_events: 0,
          segments: 0,
          orders: 0,
          order_events: 0,
          customer: 1,
        },
        created_at: expect.stringMatching(/Z$/),
        object: "pernament_deletion",
      },
    ]);
    expect((await api.get(`/v1/customers/${body["id"]}`)).status).toBe(404);
  });

  test("leave their vouchers without a holder and with the remaining balance when deleted", async () => {
    const { customer, code, redemption } = await createHolder();
    expect((await api.delete(`/v1/customers/${customer}`)).status).toBe(204);
    const holder = async () => (await api.get(`/v1/vouchers/${code}`)).body["holder_id"];
    await expect.poll(holder, EVENT_TIMEOUT).toBe(null);
    const voucher = await api.get(`/v1/vouchers/${code}`);
    expect(voucher.body).toMatchObject({ gift: { amount: 900, balance: 600 } });
    const heldVouchers = await api.get(`/v1/vouchers?customer=${customer}`);
    expect(heldVouchers.body["total"]).toBe(0);
    const stored = await api.get(`/v1/redemptions/${redemption}`);
    expect(stored.body).toMatchObject({ customer_id: customer, amount: 300 });
    const again = await api.post("/v1/publications", {
      customer: { source_id: newCode("another") },
      voucher: code,
    });
    expect(again.body).toMatchObject({ code: 400, key: "voucher_already_published" });
    const publicResponse = await api.post("/v1/qualifications", {
      options: { filters: { code: { conditions: { $is: [code] } } } },
    });
    expect(publicResponse.body["redeemables"]).toMatchObject({ total: 0 });
    const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 100 } });
    expect(redeemed.status, redeemed.text).toBe(200);
  });

  test("lose their orders and names when deleted permanently", async () => {
    const { customer, code, redemption, order } = await createHolder();
    const stored = await api.post("/v1/orders", {
      amount: 5,
      customer: { source_id: newCode("x") },
    });
    const paid = async () =>
      (await api.get(`/v1/customers/${customer}`)).body["summary"].orders.total_count;
    await expect.poll(paid, EVENT_TIMEOUT).toBe(1);
    const deleted = await api.post(`/v1/customers/${customer}/permanent-deletion`);
    expect(deleted.body["data_json"]).toMatchObject({ customer: 1, orders: 1 });
    const orderStatus = async () => (await api.get(`/v1/orders/${order}`)).status;
    await expect.poll(orderStatus, EVENT_TIMEOUT).toBe(404);
    expect((await api.get(`/v1/orders/${stored.body["id"]}`)).status).toBe(200);
    const ofRedemption = async () => {
      const { body } = await api.get(`/v1/redemptions/${redemption}`);
      const { customer_id: id, customer: who, tracking_id: tracking, order: what, amount } = body;
      return [id, who, tracking, what, amount];
    };
    await expect.poll(ofRedemption, EVENT_TIMEOUT).toEqual([null, null, null, null, 300]);
    const listed = await api.get(`/v1/redemptions?customer=${customer}`);
    expect(listed.body["total"]).toBe(0);
    const rollback = await api.post(`/v1/redemptions/${redemption}/rollback`);
    expect(rollback.status, rollback.text).toBe(200);
    expect(rollback.body).toMatchObject({ customer_id: null, order: null });
    expect(await orderStatus()).toBe(404);
    const voucher = await api.get(`/v1/vouchers/${code}`);
    expect(voucher.body).toMatchObject({ holder_id: null, gift: { balance: 900 } });
  });

  /** A customer who holds a partly used gift card. */
  async function createHolder() {
    const code = newCode("GIFT");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 900 } });
    const published = await api.post("/v1/publications", {
      customer: { source_id: newCode("holder") },
      voucher: code,
    });
    expect(published.status, published.text).toBe(200);
    const customer: string = published.body["customer_id"];
    const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, {
      customer: { id: customer },
      order: { amount: 300 },
    });
    expect(redeemed.status, redeemed.text).toBe(200);
    const { id: redemption, order } = redeemed.body;
    return { customer, code, redemption, order: order.id };
  }

  test("are listed in `customers`, and invalid queries are rejected", async () => {
    const email = `${newCode("list")}@example.com`;
    for (const name of ["one", "two", "three"])
      await api.post("/v1/customers", { source_id: newCode(name), name, email });
    const query = `/v1/customers?email=${encodeURIComponent(email)}`;
    const { body } = await api.get(`${query}&limit=2`);
    expect(body).toMatchObject({ object: "list", data_ref: "customers", total: 3 });
    expect(body["customers"].map(({ name }: { name: string }) => name)).toEqual(["three", "two"]);
    const next = await api.get(`${query}&limit=2&page=2`);
    expect(next.body["customers"]).toHaveLength(1);
    expect([body["has_more"], next.body["has_more"]]).toEqual([true, false]);
    const after = body["customers"][0].created_at;
    const rest = await api.get(`${query}&starting_after=${after}`);
    expect(rest.body).toMatchObject({
      customers: [{ name: "two" }, { name: "one" }],
      has_more: false,
    });
    const future = await api.get(`${query}&created_at[after]=2999-01-01`);
    expect([future.body["customers"], future.body["total"]]).toEqual([[], 0]);

    for (const wrong of ["limit=101", "page=100", "order=name", "starting_after=soon"]) {
      const response = await api.get(`/v1/customers?${wrong}`);
      expect([wrong, response.status, response.body["key"]]).toEqual([
        wrong,
        400,
        "invalid_query_params",
      ]);
    }
  });

  test("are rejected when malformed", async () => {
    for (const wrong of [
      {},
      { name: "Ada", metadata: {} },
      { source_id: "" },
      { source_id: "x".repeat(256) },
      { birthdate: "1990-02-30" },
      { address: "Paris" },
      { metadata: [] },
    ]) {
      const response = await api.post("/v1/customers", wrong);
      expect([wrong, response.status, response.body["key"]]).toEqual([
        wrong,
        400,
        "invalid_payload",
      ]);
    }
  });

  test("have a summary that follows their redemptions and orders", async () => {
    const code = newCode("GIFT");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 1000 } });
    const sourceId = newCode("buyer");
    const redeem = (order: object) =>
      api.post(`/v1/vouchers/${code}/redemption`, {
        customer: { source_id: sourceId, name: "Buyer", address: { city: "Brno" } },
        order,
      });
    const first = await redeem({ amount: 300, status: "PAID" });
    expect(first.status, first.text).toBe(200);
    await redeem({ amount: 501, status: "PAID" });
    await expect
      .poll(async () => (await api.get(`/v1/customers/${sourceId}`)).body["summary"], {
        timeout: 60_000,
      })
      .toMatchObject({
        redemptions: { total_redeemed: 2, total_succeeded: 2, gift: { redeemed_amount: 801 } },
        orders: { total_count: 2, total_amount: 801, average_amount: 401, last_order_amount: 501 },
      });
    await api.post("/v1/orders", {
      amount: 99,
      status: "PAID",
      customer: { source_id: sourceId },
    });
    await expect
      .poll(async () => (await api.get(`/v1/customers/${sourceId}`)).body["summary"]["orders"], {
        timeout: 60_000,
      })
      .toMatchObject({ total_count: 3, total_amount: 900, last_order_amount: 99 });
    const { body } = await api.get(`/v1/customers/${sourceId}`);
    expect(body).toMatchObject({ name: "Buyer", address: { city: "Brno" } });

    // The customer is deleted; their redemptions remain.
    expect((await api.delete(`/v1/customers/${sourceId}`)).status).toBe(204);
    const redemption = await api.get(`/v1/redemptions/${first.body["id"]}`);
    expect([redemption.status, redemption.body["amount"]]).toEqual([200, 300]);
  });

  test("are counted as referrer and referee when a referral code is redeemed, once for each code", async () => {
    const name = newCode("referrals");
    const program = await api.post("/v1/campaigns", {
      name,
      campaign_type: "REFERRAL_PROGRAM",
      type: "AUTO_UPDATE",
      voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } },
    });
    const campaign = program.body["id"] as string;
    const [ada, bob] = [newCode("ada"), newCode("bob")];
    const published = await api.post("/v1/publications", { customer: ada, campaign: name });
    expect(published.status, published.text).toBe(200);
    const { customer_id: referrer, voucher } = published.body;
    const redeem = () =>
      api.post(`/v1/vouchers/${voucher.code}/redemption`, {
        customer: bob,
        order: { amount: 1000 },
      });
    const first = await redeem();
    expect(first.status, first.text).toBe(200);
    expect((await redeem()).status).toBe(200);
    const referee = async () => (await api.get(`/v1/customers/${bob}`)).body;
    const redeemed = async () => (await referee())["summary"].redemptions.total_redeemed;
    await expect.poll(redeemed, EVENT_TIMEOUT).toBe(2);
    await expect.poll(async () => (await referee())["referrals"].total, EVENT_TIMEOUT).toBe(1);
    expect((await referee())["referrals"]).toEqual({
      total: 1,
      campaigns: [
        {
          campaign_id: campaign,
          referrer_id: referrer,
          related_object_id: first.body["id"],
          related_object_type: "redemption",
          date: first.body["date"],
        },
      ],
    });
    const { loyalty, referrals } = (await api.get(`/v1/customers/${ada}`)).body;
    expect(loyalty).toEqual({
      points: 0,
      referred_customers: 1,
      campaigns: { [name]: { points: 0, loyalty_tier: null, referred_customers: 1 } },
    });
    expect(referrals).toEqual({ total: 0, campaigns: [] });
  });

  test("show the points and gift credits that they hold, in every response", async () => {
    const shop = await createLoyaltyProgram(api);
    const source = newCode("holder");
    const card = await shop.createCard({ source_id: source });
    const code = newCode("GIFT");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 900 } });
    await api.post("/v1/publications", { customer: source, voucher: code });
    const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, {
      customer: source,
      order: { amount: 300 },
    });
    expect(redeemed.status, redeemed.text).toBe(200);
    const { name } = (await api.get(`/v1/campaigns/${shop.campaignId}`)).body;
    const balance = (await api.get(`/v1/vouchers/${card.code}`)).body["loyalty_card"].balance;
    expect(balance).toBeGreaterThan(0);
    const shown = ({ loyalty, summary }: Json) => [loyalty, summary.redemptions];
    const expected = [
      {
        points: balance,
        referred_customers: 0,
        campaigns: { [name]: { points: balance, loyalty_tier: null, referred_customers: 0 } },
      },
      expect.objectContaining({
        gift: { redeemed_amount: expect.any(Number), amount_to_go: 600 },
        loyalty_card: { redeemed_points: 0, points_to_go: balance },
      }),
    ];
    const { body } = await api.get(`/v1/customers/${source}`);
    expect(shown(body)).toEqual(expected);
    const updated = await api.put(`/v1/customers/${source}`, { name: source });
    expect(shown(updated.body)).toEqual(expected);
    const listed = await api.get(`/v1/customers?name=${source}`);
    expect(shown(listed.body["customers"][0])).toEqual(expected);
    await api.post(`/v1/redemptions/${redeemed.body["id"]}/rollback`);
    const after = (await api.get(`/v1/customers/${source}`)).body;
    expect(after["summary"].redemptions.gift.amount_to_go).toBe(900);
  });

  test("are updated by a redemption only when it contains new data", async () => {
    const code = newCode("OFF");
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 1 },
    });
    const sourceId = newCode("buyer");
    const known = { name: "Buyer", email: "b@example.com", metadata: { vip: true, sizes: [1, 2] } };
    await api.post("/v1/customers", { source_id: sourceId, ...known });
    const redeemBy = async (fields: object) => {
      const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, {
        customer: { source_id: sourceId, ...fields },
      });
      expect(redeemed.status, redeemed.text).toBe(200);
      return (await api.get(`/v1/customers/${sourceId}`)).body;
    };
    expect(await redeemBy({})).toMatchObject({ ...known, updated_at: null });
    expect(await redeemBy(known)).toMatchObject({ ...known, updated_at: null });
    const changed = { ...known, metadata: { ...known.metadata, sizes: [1, 3] } };
    expect(await redeemBy({ metadata: { sizes: [1, 3] } })).toMatchObject(changed);
    const withPhone = await redeemBy({ phone: "+48 1" });
    expect(withPhone).toMatchObject({ ...changed, phone: "+48 1" });
    expect(withPhone["updated_at"]).not.toBeNull();
  });

  test("require the scope customers", async () => {
    const customers = await serverApi(stack, "customers");
    expect((await customers.get("/v1/customers")).status).toBe(200);
    expect((await customers.get("/v1/vouchers")).status).toBe(403);
    const vouchers = await serverApi(stack, "vouchers");
    const rejected = await vouchers.post("/v1/customers", { source_id: "no" });
    expect([rejected.status, rejected.body["key"]]).toEqual([403, "missing_required_permission"]);
  });
});
