import { bindingsOf, isAudited } from "@scrip/contract";
import { describe, expect, test, vi } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";
import { type Api, type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { errorOf, ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const WAIT = { timeout: 30_000, interval: 100 };
const GIFT = { type: "GIFT_VOUCHER", gift: { amount: 10_000 } };

describe.each(COMPOSITIONS)("the audit log (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  const entriesOf = async (api: Api, query = ""): Promise<Json[]> =>
    (await ok(api.get(`/v1/audit-log?limit=100${query}`)))["data"];
  const actionsOf = async (api: Api, query = ""): Promise<string[]> =>
    (await entriesOf(api, `&order=created_at${query}`)).map(({ action }) => action);

  test("has the changes of all services with their callers, and no values", async () => {
    const { id: projectId, api } = await newProject(stack);
    const code = newCode("audited");
    const created = await api.post("/v1/vouchers", { code, ...GIFT, metadata: { secret: "x" } });
    await ok(api.post("/v1/categories", { name: newCode("category"), hierarchy: 1 }));
    const customer = { source_id: "ada@example.org", name: "Ada" };
    const { id: customerId } = await ok(api.post("/v1/customers", customer));
    await ok(api.post("/v1/products", { name: "Mug" }));
    await ok(management.put(`/management/v1/projects/${projectId}`, { name: "Renamed" }));
    await ok(
      management.post(`/management/v1/projects/${projectId}/webhooks`, {
        target_url: "https://shop.example/hook",
        events: ["voucher.deleted"],
      }),
    );
    expect((await api.delete(`/v1/customers/${customer.source_id}`)).status).toBe(204);
    expect((await api.delete(`/v1/vouchers/${code}`)).status).toBe(204);

    await vi.waitFor(
      async () =>
        expect((await actionsOf(api)).toSorted()).toEqual([
          "createCategory",
          "createCustomer",
          "createProduct",
          "createProject",
          "createVoucher",
          "createWebhook",
          "deleteCustomer",
          "deleteVoucher",
          "updateProject",
        ]),
      WAIT,
    );
    const entries = await entriesOf(api);
    const {
      id: _,
      created_at: at,
      ...voucher
    } = entries.find(({ action }) => action === "createVoucher")!;
    expect(voucher).toEqual({
      object: "audit_entry",
      action: "createVoucher",
      resource: { type: "voucher", id: created.body["id"] },
      fields: ["code", "type", "gift", "metadata"],
      actor: { type: "server", id: api.headers["x-app-id"] },
      request_id: created.headers.get("x-request-id"),
    });
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(120_000);
    expect(entries.find(({ action }) => action === "updateProject")).toMatchObject({
      resource: { type: "project", id: projectId },
      fields: ["name"],
      actor: { type: "management", id: "management" },
    });
    expect(JSON.stringify(entries)).not.toContain("ada@example.org");

    expect(await actionsOf(api, `&resource_id=${customerId}`)).toEqual(["createCustomer"]);
    expect(await actionsOf(api, "&action=deleteVoucher&resource_type=voucher")).toHaveLength(1);
    expect(await actionsOf(api, `&request_id=${voucher["request_id"]}`)).toHaveLength(1);
    expect(await actionsOf(api, "&start_date=2099-01-01T00:00:00Z")).toEqual([]);
    const managed = await ok(
      management.get(`/management/v1/projects/${projectId}/audit-log?actor_id=management`),
    );
    expect(managed["data"].map(({ action }: Json) => action).toSorted()).toEqual([
      "createProject",
      "createWebhook",
      "updateProject",
    ]);
  });

  test("has no reads, rejections, redemptions and replays, and pages of all other requests", async () => {
    const { api } = await newProject(stack);
    const code = newCode("audited");
    const key = { "idempotency-key": newCode("key") };
    await ok(api.post("/v1/vouchers", { code, ...GIFT }, key));
    await ok(api.post("/v1/vouchers", { code, ...GIFT }, key));
    expect((await errorOf(api.post("/v1/vouchers", { code, ...GIFT })))[1]).toBe("duplicate_found");
    await ok(api.get(`/v1/vouchers/${code}`));
    const order = { amount: 1_000 };
    await ok(api.post(`/v1/vouchers/${code}/validate`, { order }));
    await ok(api.post(`/v1/vouchers/${code}/redemption`, { order, gift: { credits: 100 } }));
    for (const action of ["disable", "enable"]) {
      await ok(api.post(`/v1/vouchers/${code}/${action}`));
    }

    const expected = ["createProject", "createVoucher", "disableVoucher", "enableVoucher"];
    await vi.waitFor(async () => expect(await actionsOf(api)).toEqual(expected), WAIT);
    const seen: string[] = [];
    for (let after = ""; ;) {
      const page = await ok(api.get(`/v1/audit-log?limit=3${after}`));
      seen.push(...page["data"].map(({ action }: Json) => action));
      if (page["has_more"] !== true) break;
      after = `&starting_after_id=${page["more_starting_after"]}`;
    }
    expect(seen).toEqual(expected.toReversed());
  });
});

test("leaves out the requests that change nothing, and those whose records are a log", () => {
  const leftOut = bindingsOf(publicServices)
    .filter(({ method, httpMethod }) => httpMethod !== "GET" && !isAudited(method))
    .map(({ method }) => method.name);
  expect([...new Set(leftOut)].toSorted()).toEqual([
    "CreateCustomEvent",
    "CreatePublication",
    "CreateToken",
    "EstimatePoints",
    "IntrospectToken",
    "Qualify",
    "QualifyCampaigns",
    "QualifyVouchers",
    "Redeem",
    "RedeemCode",
    "RedeemMemberReward",
    "RedeemPromotionTier",
    "RedeemVoucher",
    "ReleaseSession",
    "RevokeToken",
    "RollbackRedemption",
    "RollbackRedemptions",
    "Validate",
    "ValidatePromotionTier",
    "ValidatePromotions",
    "ValidateVoucher",
  ]);
});
