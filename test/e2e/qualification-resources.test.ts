import { describe, expect, test } from "vitest";

import { type Json, newProject } from "../stack/api.ts";
import { percent, qualificationBuilders, when } from "../stack/qualification-builders.ts";
import { errorOf, ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const ORDER = { amount: 10_000 };

describe.each(COMPOSITIONS)(
  "qualifications of vouchers and campaigns (%s)",
  async (composition) => {
    const stack = await sharedStack(composition);
    const createBuilders = async () => {
      const { api } = await newProject(stack);
      const campaign = (name: string, body: Json = {}): Promise<Json> =>
        ok(
          api.post("/v1/campaigns", {
            name,
            campaign_type: "DISCOUNT_COUPONS",
            voucher: { type: "DISCOUNT_VOUCHER", discount: percent(10) },
            ...body,
          }),
        );
      return { api, campaign, ...qualificationBuilders(api) };
    };

    test("POST /v1/vouchers/qualification returns vouchers as GET /v1/vouchers does", async () => {
      const { api, voucher, tier, gift, publish } = await createBuilders();
      await voucher("SALE", { category: "sale" }, when("order.amount", { $more_than: [100] }));
      await gift("GIFT", 2_500);
      await publish("GIFT", "ann");
      await voucher("BIG", {}, when("order.amount", { $more_than: [20_000] }));
      await tier("tier");
      const path = "/v1/vouchers/qualification";
      const body = { customer: { source_id: "ann" }, order: ORDER, metadata: { channel: "web" } };
      const response = await ok(api.post(path, body));
      const listed = await ok(api.get("/v1/vouchers?ids=SALE,GIFT"));
      expect(response).toEqual({
        object: "list",
        data_ref: "data",
        total: 2,
        data: listed["vouchers"],
        tracking_id: expect.stringMatching(/^track_/),
      });
      expect(response["data"].map(({ code }: Json) => code)).toEqual(["GIFT", "SALE"]);
      expect(response["data"][1]).toMatchObject({
        categories: [{ name: "sale" }],
        validation_rules_assignments: { total: 1 },
      });

      // `order` is the order in the body and the sorting in the query.
      const codes = async (query: string): Promise<string[]> =>
        (await ok(api.post(`${path}?${query}`, body)))["data"].map(({ code }: Json) => code);
      expect(await codes("order=created_at&limit=1")).toEqual(["SALE"]);
      expect(await codes("audienceRulesOnly=true&order=created_at")).toEqual([
        "SALE",
        "GIFT",
        "BIG",
      ]);
      expect(await errorOf(api.post(`${path}?order=code`, body))).toEqual([
        400,
        "invalid_query_params",
        expect.stringContaining(".order"),
      ]);
      expect(await errorOf(api.post(`${path}?limit=51`, body))).toEqual([
        400,
        "invalid_query_params",
        expect.stringContaining(".limit"),
      ]);
    });

    test("POST /v1/campaigns/qualification returns whole campaigns", async () => {
      const { api, campaign, tier } = await createBuilders();
      const sale = await campaign("Sale", { category: "sale" });
      const rule = await ok(
        api.post("/v1/validation-rules", {
          name: "big",
          ...when("order.amount", { $more_than: [20_000] }),
        }),
      );
      const big = await campaign("Big", { validation_rules: [rule["id"]] });
      await tier("tier");
      const path = "/v1/campaigns/qualification";
      const response = await ok(api.post(path, { order: ORDER }));
      expect(response).toEqual({
        object: "list",
        data_ref: "data",
        total: 1,
        data: [await ok(api.get(`/v1/campaigns/${sale["id"]}`))],
      });
      const all = await ok(
        api.post(`${path}?audienceRulesOnly=true&order=-created_at`, { order: ORDER }),
      );
      expect(all["data"].map(({ id }: Json) => id)).toEqual([big["id"], sale["id"]]);
      expect(all["data"][0]["validation_rules_assignments"]).toMatchObject({
        total: 1,
        data: [{ rule_id: rule["id"] }],
      });
    });

    test("a voucher cannot have the code qualification, which paths read as an operation", async () => {
      const { api } = await createBuilders();
      const body = { type: "DISCOUNT_VOUCHER", discount: percent(10) };
      const response = await api.post("/v1/vouchers", { ...body, code: "qualification" });
      expect([response.status, response.body["key"]]).toEqual([400, "invalid_payload"]);
      expect((await api.get("/v1/vouchers/qualification")).status).toBe(405);
    });
  },
);
