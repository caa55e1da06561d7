import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
} from "../stack/api.ts";
import { retryUnavailable } from "../stack/retry.ts";
import { ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** Every resource that the response shows is changed between the request and its replay. */
describe.each(COMPOSITIONS)(
  "idempotent replays after every shown resource has changed (%s)",
  async (composition) => {
    const stack = await sharedStack(composition);
    const { id, api } = await newProject(stack);
    await ok(
      managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
        redeemables_application_mode: "PARTIAL",
      }),
    );
    const builders = ruleBuilders(api);

    const REQUESTS: Readonly<Record<string, (resources: Resources) => readonly [string, Json]>> = {
      "a voucher": ({ code }) => [`/v1/vouchers/${code}/redemption`, ORDER],
      "a tier": ({ tier }) => [`/v1/promotions/tiers/${tier}/redemption`, ORDER],
      "a stack": ({ code, tier }) => [
        "/v1/redemptions",
        { ...ORDER, ...redeemablesOf(code, tier) },
      ],
      "a stack with skipped redeemables": ({ code, tier, expired }) => [
        "/v1/redemptions",
        {
          ...ORDER,
          ...redeemablesOf(code, tier, expired),
          options: { expand: ["category", "redeemable"] },
        },
      ],
      "a rejection": ({ expired }) => [`/v1/vouchers/${expired}/redemption`, ORDER],
      "a rollback": ({ redeemed }) => [`/v1/redemptions/${redeemed}/rollback`, {}],
      "a rollback of a stack": ({ stacked }) => [`/v1/redemptions/${stacked}/rollbacks`, {}],
    };

    test.each(Object.keys(REQUESTS))("are byte-equal for %s", async (name) => {
      const resources = await createResources();
      const [path, body] = REQUESTS[name]!(resources);
      const key = newCode("key");
      const send = (requestBody = body): Promise<ApiResponse> =>
        retryUnavailable(() => api.post(path, requestBody, { "idempotency-key": key }));
      const together = await inParallel([1, 2, 3], 3, () => send());
      // Requests that arrived while the first was in progress return 409.
      const firsts = together.filter(({ status }) => status !== 409);
      expect(new Set(firsts.map(({ text }) => text)).size).toBe(1);
      expect(firsts[0]?.status).toBe(name === "a rejection" ? 400 : 200);

      await resources.change();
      const repeat = await send();
      expect(repeat.text).toBe(firsts[0]?.text);
      expect(repeat.headers.get("idempotent-replayed")).toBe("true");
      const other = await send({ ...body, metadata: { other: true } });
      expect([other.status, other.body["key"]]).toEqual([422, "idempotency_key_reused"]);
    });

    type Resources = Awaited<ReturnType<typeof createResources>>;

    async function createResources() {
      const category = await ok(api.post("/v1/categories", { name: newCode("cat"), hierarchy: 1 }));
      const product = await ok(
        api.post("/v1/products", { source_id: newCode("mug"), name: "Mug" }),
      );
      const discount = {
        type: "UNIT",
        unit_off: 1,
        unit_type: product["id"],
        effect: "ADD_NEW_ITEMS",
      };
      const fields = { category_id: category["id"], discount };
      const voucher = await builders.createVoucher({ ...fields, code: newCode("SHOWN") });
      const past = { start_date: "2020-01-01T00:00:00Z", expiration_date: "2020-02-01T00:00:00Z" };
      const expired = await builders.createVoucher({ ...fields, ...past, code: newCode("PAST") });
      const campaign = await ok(
        api.post("/v1/campaigns", { name: newCode("promotion"), campaign_type: "PROMOTION" }),
      );
      const tier = await ok(
        api.post(`/v1/promotions/${campaign["id"]}/tiers`, {
          name: "tier",
          action: { discount: { type: "AMOUNT", amount_off: 5 } },
          category_id: category["id"],
        }),
      );
      const code = voucher["code"] as string;
      const redeemed = await ok(api.post(`/v1/vouchers/${code}/redemption`, ORDER));
      const stacked = await ok(
        api.post("/v1/redemptions", { ...ORDER, ...redeemablesOf(code, tier["id"]) }),
      );
      return {
        code,
        tier: tier["id"] as string,
        expired: expired["code"] as string,
        redeemed: redeemed["id"] as string,
        stacked: stacked["parent_redemption"].id as string,
        async change(): Promise<void> {
          const rule = await builders.createRule();
          for (const one of [voucher, expired]) await builders.assign(rule, "voucher", one["id"]);
          await builders.assign(rule, "promotion_tier", tier["id"]);
          await ok(
            api.put(`/v1/categories/${category["id"]}`, { name: newCode("renamed"), hierarchy: 2 }),
          );
          await ok(api.put(`/v1/products/${product["id"]}`, { name: "Cup" }));
          await ok(api.put(`/v1/vouchers/${code}`, { metadata: { changed: true } }));
          await ok(api.put(`/v1/promotions/tiers/${tier["id"]}`, { name: "renamed" }));
        },
      };
    }
  },
);

const ORDER: Json = { order: { amount: 1_000 } };

const redeemablesOf = (code: string, tier: string, expired?: string): Json => ({
  redeemables: [
    { object: "voucher", id: code },
    { object: "promotion_tier", id: tier },
    ...(expired === undefined ? [] : [{ object: "voucher", id: expired }]),
  ],
});
