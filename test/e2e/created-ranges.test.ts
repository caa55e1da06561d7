import { describe, expect, test } from "vitest";

import { managementApi, newCode, newProject } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("lists by the time of creation (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const { id: projectId, api } = await newProject(stack);
  const management = managementApi(stack);
  const counter =
    (path: string, list: string) =>
    async (range: string): Promise<number> =>
      (await ok(api.get(`${path}?${range}`)))[list].length;

  test("list async actions, exports and entries of the bin that were created in a range", async () => {
    const product = await ok(api.post("/v1/products", { name: newCode("product") }));
    expect((await api.delete(`/v1/products/${product["id"]}`)).status).toBe(204);
    await ok(api.post("/v1/exports", { exported_object: "customer" }));
    await api.post("/v1/customers/bulk/async", [{ source_id: newCode("customer") }]);
    for (const [path, list] of [
      ["/v1/async-actions", "async_actions"],
      ["/v1/exports", "exports"],
      ["/v1/trash-bin", "data"],
    ] as const) {
      const count = counter(path, list);
      await expect.poll(() => count("created_at[after]=2020-01-01")).toBe(1);
      expect(await count("created_at[before]=2020-01-01")).toBe(0);
      expect(await count("created_at[after]=2999-01-01")).toBe(0);
      expect(await count("created_at[after]=2020-01-01&created_at[before]=2999-01-01")).toBe(1);
    }
  });

  test("list tiers, buckets and activities of a loyalty program that were created in a range", async () => {
    const voucher = { loyalty_card: { points: 5 } };
    const program = { name: newCode("Club"), type: "AUTO_UPDATE", voucher };
    const { id } = await ok(api.post("/v1/loyalties", program));
    await ok(api.post(`/v1/loyalties/${id}/tiers`, [{ name: "All", points: { from: 0 } }]));
    const customer = newCode("ada");
    const card = await ok(api.post(`/v1/loyalties/${id}/members`, { customer }));
    const member = `/v1/loyalties/${id}/members/${card["code"]}`;
    const points = { points: 3, expiration_type: "CUSTOM_DATE", expiration_date: "2999-12-31" };
    await ok(api.post(`${member}/balance`, points));
    for (const path of [
      `/v1/loyalties/${id}/tiers`,
      `${member}/points-expiration`,
      `${member}/activity`,
      `/v1/customers/${customer}/activity`,
    ]) {
      const count = counter(path, "data");
      await expect
        .poll(() => count("created_at[after]=2020-01-01"), { message: path })
        .toBeGreaterThan(0);
      expect(await count("created_at[before]=2999-01-01"), path).toBeGreaterThan(0);
      expect(await count("created_at[before]=2020-01-01"), path).toBe(0);
      expect(await count("created_at[after]=2999-01-01"), path).toBe(0);
    }
  });

  test("list what belongs to a project that was created in a range", async () => {
    const project = `/management/v1/projects/${projectId}`;
    const target = { target_url: "http://127.0.0.1:1/", events: ["voucher.created"] };
    const { id: webhook } = await ok(management.post(`${project}/webhooks`, target));
    await ok(management.post(`${project}/custom-event-schemas`, { name: newCode("event") }));
    await ok(management.post(`${project}/stacking-rules`, {}));
    await ok(api.post("/v1/vouchers", { gift: { amount: 1 } }));
    for (const path of [
      "/management/v1/projects",
      `${project}/api-keys`,
      `${project}/webhooks`,
      `${project}/webhooks/${webhook}/deliveries`,
      `${project}/custom-event-schemas`,
      `${project}/stacking-rules`,
      `${project}/audit-log`,
    ]) {
      const count = async (range: string): Promise<number> =>
        (await ok(management.get(`${path}?${range}`)))["data"].length;
      await expect
        .poll(() => count("created_at[after]=2020-01-01"), { message: path, timeout: 20_000 })
        .toBeGreaterThan(0);
      expect(await count("created_at[before]=2999-01-01"), path).toBeGreaterThan(0);
      expect(await count("created_at[before]=2020-01-01"), path).toBe(0);
      expect(await count("created_at[after]=2999-01-01"), path).toBe(0);
    }
    const { total } = await ok(
      management.get("/management/v1/projects?created_at[after]=2999-01-01"),
    );
    expect(total).toBe(0);
  });

  test("list tiers of programs that were created in a range", async () => {
    const voucher = { loyalty_card: { points: 5 } };
    const program = { name: newCode("Club"), type: "AUTO_UPDATE", voucher };
    const { id } = await ok(api.post("/v1/loyalties", program));
    const earned = { event: "order.paid", loyalty: { type: "FIXED", points: 1 } };
    await ok(api.post(`/v1/loyalties/${id}/earning-rules`, [earned]));
    const tiers = [{ name: "All", points: { from: 0 } }];
    const { body } = await api.post(`/v1/loyalties/${id}/tiers`, tiers);
    const tier: string = body[0].id;
    const card = await ok(api.post(`/v1/loyalties/${id}/members`, { customer: newCode("ada") }));
    const referral = await ok(
      api.post("/v1/campaigns", {
        name: newCode("Friends"),
        campaign_type: "REFERRAL_PROGRAM",
        voucher: { discount: { type: "PERCENT", percent_off: 5 } },
      }),
    );
    const reward = { related_object_parent: { id }, type: "LOYALTY_CARD", amount: 1 };
    await ok(
      api.post(`/v1/referrals/${referral["id"]}/tiers`, {
        name: "Each",
        condition: { type: "EACH_UNIQUE_REFEREE", count: 1 },
        reward,
      }),
    );
    for (const path of [
      `/v1/loyalties/${id}/tiers/${tier}/earning-rules`,
      `/v1/loyalties/members/${card["code"]}/tiers`,
      `/v1/referrals/${referral["id"]}/tiers`,
    ]) {
      const count = counter(path, "data");
      await expect.poll(() => count("created_at[after]=2020-01-01"), { message: path }).toBe(1);
      expect(await count("created_at[before]=2020-01-01"), path).toBe(0);
    }
  });
});
