import { describe, expect, test } from "vitest";

import { type Json, newCode, newProject } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const DISCOUNT = { type: "AMOUNT", amount_off: 100 };

/** Requests and responses as client libraries of the leading system send and read them. */
describe.each(COMPOSITIONS)("client libraries (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const { api } = await newProject(stack);

  test("send null for fields of a model without a filter, and operators without conditions", async () => {
    const code = newCode("voucher");
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount: DISCOUNT }));
    const qualified = await ok(
      api.post("/v1/qualifications", {
        order: { amount: 1_000 },
        options: { filters: { junction: null, code: { $is: code }, holder_role: null } },
      }),
    );
    expect(qualified["redeemables"].data.map(({ id }: Json) => id)).toEqual([code]);
    const listed = await ok(api.get(`/v1/redemptions?filters[result][$is]=SUCCESS`));
    expect(listed["total"]).toBe(0);
  });

  test("send dates and times without a zone", async () => {
    const filters = { created_at: { conditions: { $after: ["2026-01-02T03:04:05.678901"] } } };
    const parameters = { fields: ["id"], filters };
    await ok(api.post("/v1/exports", { exported_object: "customer", parameters }));
    const program = await createLoyaltyProgram(api);
    const { code } = await program.createCard();
    const added = {
      points: 5,
      expiration_type: "CUSTOM_DATE",
      expiration_date: "2999-12-31T00:00:00",
    };
    await ok(api.post(`/v1/loyalties/members/${code}/balance`, added));
    const card = await ok(api.get(`/v1/loyalties/members/${code}`));
    expect(card["loyalty_card"]).toMatchObject({ next_expiration_date: "2999-12-31" });
    const invalid = { ...added, expiration_date: "2999-02-30T00:00:00" };
    const rejected = await api.post(`/v1/loyalties/members/${code}/balance`, invalid);
    expect([rejected.status, rejected.body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("list promotion stacks by the time of their last change", async () => {
    const tier = { name: "Off", action: { discount: DISCOUNT } };
    const campaign = await ok(
      api.post("/v1/campaigns", {
        name: newCode("promotion"),
        campaign_type: "PROMOTION",
        promotion: { tiers: [tier] },
      }),
    );
    const stacks = `/v1/promotions/${campaign["id"]}/stacks`;
    const tiers = { ids: [campaign["promotion"].tiers[0].id] };
    const { id } = await ok(api.post(stacks, { name: "Stack", tiers }));
    await ok(api.put(`${stacks}/${id}`, { name: "Renamed" }));
    for (const path of ["/v1/promotions/stacks", stacks]) {
      const totalOf = async (range: string) =>
        (await ok(api.get(`${path}?updated_at${range}`)))["total"];
      expect(await totalOf("[after]=2020-01-01"), path).toBe(1);
      expect(await totalOf("[before]=2020-01-01"), path).toBe(0);
    }
  });

  test("change the points of an earning rule without its type", async () => {
    const { campaignId } = await createLoyaltyProgram(api);
    const rules = `/v1/loyalties/${campaignId}/earning-rules`;
    const order = { amount: { every: 100, points: 1 } };
    const proportional = { type: "PROPORTIONAL", calculation_type: "ORDER_AMOUNT", order };
    const created = await ok(
      api.post(rules, [
        { event: "order.paid", loyalty: { type: "FIXED", points: 5 } },
        { event: "order.paid", loyalty: proportional },
      ]),
    );
    const [fixed, byAmount] = created as unknown as Json[];
    const updated = await ok(api.put(`${rules}/${fixed?.["id"]}`, { loyalty: { points: 7 } }));
    expect(updated["loyalty"]).toEqual({ type: "FIXED", points: 7 });
    const twice = { order: { amount: { every: 100, points: 2 } } };
    const doubled = await ok(api.put(`${rules}/${byAmount?.["id"]}`, { loyalty: twice }));
    expect(doubled["loyalty"]).toEqual({ ...proportional, ...twice });
    const untyped = await api.post(rules, [{ event: "order.paid", loyalty: { points: 5 } }]);
    expect(untyped.body).toMatchObject({
      key: "invalid_payload",
      details: "Property .loyalty should have required property 'type'",
    });
  });

  test("read activated pending points with what granted them, and removed points as an activity", async () => {
    const program = await createLoyaltyProgram(api);
    const pending = { period_type: "DAY", period_value: 7 };
    const rule = { event: "order.paid", loyalty: { type: "FIXED", points: 9 } };
    await ok(
      api.post(`/v1/loyalties/${program.campaignId}/earning-rules`, [
        { ...rule, pending_points: pending },
      ]),
    );
    const { code, customer } = await program.createCard();
    const member = `/v1/loyalties/members/${code}`;
    const order = await ok(api.post("/v1/orders", { status: "PAID", amount: 1_000, customer }));
    const entries = async (): Promise<Json[]> =>
      (await ok(api.get(`${member}/pending-points`)))["data"];
    await expect.poll(entries, { timeout: 20_000 }).toHaveLength(1);
    const [entry] = await entries();
    await ok(api.post(`${member}/pending-points/${entry?.["id"]}/activate`));
    const { customer_id: _, ...activated } = entry as Json;
    const { data } = await ok(api.get(`${member}/transactions`));
    expect(data[0]).toMatchObject({
      type: "PENDING_POINTS_ACTIVATION",
      details: { order: { id: order["id"] }, pending_points: activated },
    });

    await ok(api.post(`${member}/balance`, { points: -3 }));
    const pointsOfActivities = async () =>
      (await ok(api.get(`${member}/activity?limit=50`)))["data"]
        .filter(({ type }: Json) => type === "customer.voucher.loyalty_card.points_added")
        .map((activity: Json) => activity["data"].transaction.points);
    await expect.poll(pointsOfActivities, { timeout: 20_000 }).toContain(-3);
  });

  test("find one assignment of a loyalty program, and campaigns by the names of their filters", async () => {
    const { campaignId } = await createLoyaltyProgram(api);
    const coupons = await ok(
      api.post("/v1/campaigns", {
        name: newCode("coupons"),
        voucher: { type: "DISCOUNT_VOUCHER", discount: DISCOUNT },
      }),
    );
    const parameters = { campaign: { id: coupons["id"] } };
    const assignments: Json[] = [];
    for (const points of [10, 20]) {
      const reward = await ok(
        api.post("/v1/rewards", { name: newCode("reward"), type: "CAMPAIGN", parameters }),
      );
      assignments.push(
        await ok(
          api.post(`/v1/rewards/${reward["id"]}/assignments`, {
            campaign: campaignId,
            parameters: { loyalty: { points } },
          }),
        ),
      );
    }
    const id = assignments[0]?.["id"];
    for (const query of [`rewards?assignment_id=${id}`, `reward-assignments?assignmentId=${id}`]) {
      const found = await ok(api.get(`/v1/loyalties/${campaignId}/${query}`));
      expect(found, query).toMatchObject({ data: [{ id }], total: 1 });
    }
    const filters = `filters[campaigns_id][conditions][$is]=${coupons["id"]}&filters[created_date][conditions][$today]=`;
    const listed = await ok(api.get(`/v1/campaigns?${filters}`));
    expect(listed["campaigns"].map((one: Json) => one["id"])).toEqual([coupons["id"]]);
  });

  test("publish vouchers at the older path", async () => {
    const campaign = newCode("campaign");
    const template = { type: "DISCOUNT_VOUCHER", discount: DISCOUNT };
    await ok(
      api.post("/v1/campaigns", {
        name: campaign,
        campaign_type: "DISCOUNT_COUPONS",
        type: "AUTO_UPDATE",
        voucher: template,
      }),
    );
    const customer = { source_id: newCode("customer") };
    const published = await ok(api.post("/v1/vouchers/publish", { campaign, customer }));
    expect(published).toMatchObject({
      object: "publication",
      result: "SUCCESS",
      voucher: { campaign, type: "DISCOUNT_VOUCHER" },
    });
    const { code } = published["voucher"];
    expect(code).not.toBe("publish");
    const again = await api.post("/v1/vouchers/publish", {
      voucher: code,
      customer: newCode("other"),
    });
    expect([again.status, again.body["key"]]).toEqual([400, "voucher_already_published"]);
    expect((await api.get("/v1/vouchers/publish")).status).toBe(404);
  });

  test("send null as the body of operations without parameters", async () => {
    const code = newCode("voucher");
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount: DISCOUNT }));
    for (const [operation, active] of [
      ["disable", false],
      ["enable", true],
    ] as const) {
      const voucher = await ok(api.post(`/v1/vouchers/${code}/${operation}`, null));
      expect(voucher, operation).toMatchObject({ code, active });
    }
    const redeemed = await ok(api.post(`/v1/vouchers/${code}/redemption?tracking_id=ada`, null));
    expect(redeemed).toMatchObject({ result: "SUCCESS", tracking_id: expect.any(String) });
    const { status, body } = await api.post("/v1/vouchers", null);
    expect([status, body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("never create vouchers whose code is an operation of older clients", async () => {
    const campaign = newCode("campaign");
    const template = { type: "DISCOUNT_VOUCHER", discount: DISCOUNT };
    await ok(api.post("/v1/campaigns", { name: campaign, type: "AUTO_UPDATE", voucher: template }));
    for (const code of ["enable", "disable"]) {
      const { status, body } = await api.post(`/v1/vouchers/${code}`, { campaign });
      expect([status, body["key"]], code).toEqual([400, "invalid_payload"]);
    }
    const created = await api.post("/v1/vouchers", { code: "publish", ...template });
    expect([created.status, created.body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("read a SKU under its product", async () => {
    const [shirt, mug] = await Promise.all(
      ["Shirt", "Mug"].map((name) => ok(api.post("/v1/products", { name }))),
    );
    const created = await ok(api.post(`/v1/products/${shirt?.["id"]}/skus`, { sku: "Shirt M" }));
    const underProduct = (product: Json | undefined) =>
      api.get(`/v1/products/${product?.["id"]}/skus/${created["id"]}`);
    expect(await ok(underProduct(shirt))).toEqual(await ok(api.get(`/v1/skus/${created["id"]}`)));
    expect((await underProduct(mug)).body).toMatchObject({
      key: "not_found",
      resource_type: "sku",
    });
    expect((await underProduct({ id: "prod_1" })).body).toMatchObject({
      key: "not_found",
      resource_type: "product",
    });
  });

  test("list vouchers by ids that are one value, written as a list", async () => {
    const vouchers = await Promise.all(
      [1, 2].map(() =>
        ok(
          api.post("/v1/vouchers", {
            code: newCode("it's, a [code]"),
            type: "DISCOUNT_VOUCHER",
            discount: DISCOUNT,
          }),
        ),
      ),
    );
    const [first, second] = vouchers.map((voucher) => [voucher["id"], voucher["code"]]);
    for (const ids of [
      `['${first?.[0]}', '${second?.[0]}']`,
      JSON.stringify([first?.[0], second?.[1]]),
      JSON.stringify([first?.[1], second?.[1]]),
    ]) {
      const listed = await ok(
        api.get(`/v1/vouchers?order=created_at&ids=${encodeURIComponent(ids)}`),
      );
      const found = new Set(listed["vouchers"].map(({ id }: Json) => id));
      expect(found, ids).toEqual(new Set([first?.[0], second?.[0]]));
    }
    const one = await ok(api.get(`/v1/vouchers?ids=${encodeURIComponent(`['${first?.[0]}']`)}`));
    expect(one["total"]).toBe(1);
  });

  test("download exports as plain text when they accept nothing else", async () => {
    const { id } = await ok(api.post("/v1/exports", { exported_object: "customer" }));
    await expect.poll(async () => (await ok(api.get(`/v1/exports/${id}`)))["status"]).toBe("DONE");
    const { result } = await ok(api.get(`/v1/exports/${id}`));
    const { pathname, search } = new URL(result.url, stack.url);
    const typeFor = async (accept: string) => {
      const response = await fetch(`${stack.url}${pathname}${search}`, { headers: { accept } });
      await response.text();
      return [response.headers.get("content-type"), response.headers.get("vary")];
    };
    for (const [accept, type] of [
      ["text/plain", "text/plain"],
      ["*/*", "text/csv"],
      ["application/json, text/plain, */*", "text/csv"],
      ["application/json", "text/csv"],
    ] as const) {
      const [received, vary] = await typeFor(accept);
      expect(received, accept).toBe(`${type}; charset=utf-8`);
      expect(vary, accept).toContain("Accept");
    }
  });
});
