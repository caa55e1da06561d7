import { create } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import {
  CampaignSchema,
  CampaignService,
  type CreateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  CategoryService,
  type ResolveCategoriesRequest,
  ResolveCategoriesResponseSchema,
  type UpdateCategoryRequest,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CategorySchema } from "@scrip/proto/scrip/common/v1/category_pb";
import { DiscountEffect, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  ProductService,
  type ResolveUnitsRequest,
  ResolveUnitsResponseSchema,
} from "@scrip/proto/scrip/validation/v1/products_pb";
import {
  type AssignRulesRequest,
  AssignRulesResponseSchema,
  type ResolveAssignmentsRequest,
  ResolveAssignmentsResponseSchema,
  type RevokeRulesRequest,
  RevokeRulesResponseSchema,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import { RedemptionSchema, RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type CreateVoucherRequest,
  type ListVouchersRequest,
  ListVouchersResponseSchema,
  type UpdateVoucherRequest,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, beforeEach, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const categoryNames = new Map([["cat_1", "Books"]]);
const assigned = new Map<string, readonly string[]>();
const assignmentLookups: ResolveAssignmentsRequest[] = [];
let failure: Error | undefined;
/** Thrown by the validation rule service. */
let outage: Error | undefined;
const categoryLookups: ResolveCategoriesRequest[] = [];
let received: CreateVoucherRequest | UpdateVoucherRequest | CreateCampaignRequest | undefined;
let listed: string[] = [];
const listRequests: ListVouchersRequest[] = [];
const unitLookups: string[][] = [];

const category = (id: string) => create(CategorySchema, { id, name: categoryNames.get(id) ?? "" });

const gateway = await startTestGateway({
  implementations: [
    stubService(VoucherService, {
      async createVoucher(request: CreateVoucherRequest) {
        received = request;
        if (failure !== undefined) throw failure;
        const categoryId = request.categoryId ?? "";
        return create(VoucherSchema, {
          id: request.reservedId ?? "v_1",
          ...(categoryId !== "" && { categoryId }),
        });
      },
      async updateVoucher(request: UpdateVoucherRequest) {
        received = request;
        return create(VoucherSchema, { id: "v_1" });
      },
      async getVoucher() {
        const unit = { effect: DiscountEffect.ADD_NEW_ITEMS };
        return create(VoucherSchema, {
          id: "v_1",
          discount: {
            type: DiscountType.UNIT,
            unitType: "sku_1",
            units: [
              { ...unit, unitType: "gone" },
              { ...unit, unitType: "known", product: { id: "prod_2" } },
            ],
          },
        });
      },
      async listVouchers(request: ListVouchersRequest) {
        listRequests.push(request);
        return create(ListVouchersResponseSchema, {
          vouchers: listed.map((id) =>
            id.startsWith("v_") ? { id, campaignId: "camp_1" } : { categoryId: id },
          ),
        });
      },
    }),
    stubService(ProductService, {
      async resolveUnits({ queries }: ResolveUnitsRequest) {
        unitLookups.push(...queries.map((query) => query.names));
        return create(ResolveUnitsResponseSchema, {
          results: queries.map((query) => ({
            units: query.names.flatMap((name) =>
              name === "sku_1"
                ? { name, product: { id: "prod_1", name: "Mug" }, sku: { id: "sku_1", sku: "red" } }
                : [],
            ),
          })),
        });
      },
    }),
    stubService(RedemptionService, {
      async getRedemption() {
        return create(RedemptionSchema, { id: "r_1", voucher: { id: "v_1", categoryId: "cat_1" } });
      },
    }),
    stubService(CampaignService, {
      async createCampaign(request: CreateCampaignRequest) {
        received = request;
        return create(CampaignSchema, { id: request.reservedId ?? "" });
      },
    }),
    stubService(ValidationRuleService, {
      async assignRules({ items }: AssignRulesRequest) {
        return create(AssignRulesResponseSchema, {
          outcomes: items.map(({ relatedObjectId, ruleIds }) => {
            const unknownRuleId = ruleIds.find((id) => !id.startsWith("val_"));
            if (unknownRuleId !== undefined) return { unknownRuleId };
            assigned.set(relatedObjectId, ruleIds);
            return {};
          }),
        });
      },
      async revokeRules({ items }: RevokeRulesRequest) {
        for (const { relatedObjectId } of items) assigned.delete(relatedObjectId);
        return create(RevokeRulesResponseSchema);
      },
      async resolveAssignments(request: ResolveAssignmentsRequest) {
        assignmentLookups.push(request);
        if (outage !== undefined) throw outage;
        return create(ResolveAssignmentsResponseSchema, {
          results: request.queries.map(({ relatedObjectIds }) => ({
            assignments: relatedObjectIds.flatMap((relatedObjectId) =>
              (assigned.get(relatedObjectId) ?? []).map((ruleId) => ({ relatedObjectId, ruleId })),
            ),
          })),
        });
      },
    }),
    stubService(CategoryService, {
      async resolveCategories(request: ResolveCategoriesRequest) {
        categoryLookups.push(request);
        return create(ResolveCategoriesResponseSchema, {
          results: request.queries.map(({ id, name, existingOnly }) => {
            if (id !== undefined) return categoryNames.has(id) ? { category: category(id) } : {};
            const known = [...categoryNames].find(([, each]) => each === name)?.[0];
            if (known === undefined && existingOnly) return {};
            const found = known ?? `cat_${categoryNames.size + 1}`;
            categoryNames.set(found, name ?? "");
            return { category: category(found) };
          }),
        });
      },
      async updateCategory({ categoryId, name }: UpdateCategoryRequest) {
        if (!categoryNames.has(categoryId)) throw new ApiError("not_found");
        categoryNames.set(categoryId, name);
        return category(categoryId);
      },
    }),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());
const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
const call = (method: string, path: string, body?: object) =>
  send(gateway.url + path, method, { headers, ...(body !== undefined && { body }) });

beforeEach(() => {
  categoryLookups.length = 0;
  received = undefined;
  assignmentLookups.length = 0;
  assigned.clear();
  failure = undefined;
  outage = undefined;
  unitLookups.length = 0;
});

test("fills in the product of a unit discount unless the service did", async () => {
  const { json } = await call("GET", "/v1/vouchers/UNITS");
  expect(json["discount"]).toMatchObject({
    unit_type: "sku_1",
    product: { id: "prod_1", name: "Mug" },
    sku: { id: "sku_1", sku: "red" },
  });
  const [gone, known] = json["discount"].units;
  expect(gone).toEqual({ effect: "ADD_NEW_ITEMS", unit_type: "gone" });
  expect(known).toMatchObject({ unit_type: "known", product: { id: "prod_2" } });
  expect(unitLookups).toEqual([["sku_1", "gone"]]);
});

test("replaces a category name with its id and fills in both in the response", async () => {
  const { json } = await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER", category: "Books" });
  expect(received).toMatchObject({ categoryId: "cat_1" });
  expect((received as CreateVoucherRequest).category).toBeUndefined();
  expect(json).toMatchObject({
    category: "Books",
    category_id: "cat_1",
    categories: [{ id: "cat_1", name: "Books", object: "category" }],
  });
});

test("creates a category for a new name", async () => {
  const { json } = await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER", category: "New" });
  expect(json).toMatchObject({ category: "New", category_id: expect.stringMatching(/^cat_/) });
});

test("rejects an unknown category id, and one of a category with another name", async () => {
  const unknown = { type: "GIFT_VOUCHER", category_id: "cat_none" };
  expect(await call("POST", "/v1/vouchers", unknown)).toMatchObject({
    status: 404,
    json: { key: "not_found", resource_type: "category", resource_id: "cat_none" },
  });
  const different = { type: "GIFT_VOUCHER", category_id: "cat_1", category: "Music" };
  expect(await call("POST", "/v1/vouchers", different)).toMatchObject({
    status: 400,
    json: { key: "invalid_payload", details: "Property .category and .category_id differ" },
  });
  expect(received).toBeUndefined();
});

test("accepts a category as responses have it, with its id and its name", async () => {
  const both = { category_id: "cat_1", category: "Books" };
  await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER", ...both });
  expect(received).toMatchObject({ categoryId: "cat_1", category: undefined });
  await call("PUT", "/v1/vouchers/x", both);
  expect(received).toMatchObject({ categoryId: "cat_1", updateMask: { paths: ["category_id"] } });
});

test("does not look up categories when none is referenced", async () => {
  const { json } = await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER" });
  expect(categoryLookups).toEqual([]);
  expect(json).toMatchObject({ category: null, category_id: null, categories: [] });
});

test("lists category_id in the update mask for a name and for null", async () => {
  await call("PUT", "/v1/vouchers/x", { category: "Books" });
  expect(received).toMatchObject({ categoryId: "cat_1", updateMask: { paths: ["category_id"] } });
  await call("PUT", "/v1/vouchers/x", { category: null, active: true });
  expect(received).toMatchObject({ updateMask: { paths: ["category_id", "active"] } });
  expect((received as UpdateVoucherRequest).categoryId).toBeUndefined();
  await call("PUT", "/v1/vouchers/x", { active: true });
  expect(received).toMatchObject({ updateMask: { paths: ["active"] } });
});

test("loads the categories of a list in one call", async () => {
  categoryNames.set("cat_a", "A").set("cat_b", "B");
  listed = ["cat_a", "cat_b", "cat_a", "cat_gone"];
  const { json } = await call("GET", "/v1/vouchers");
  expect(categoryLookups).toHaveLength(1);
  expect(categoryLookups[0]?.queries).toHaveLength(3);
  expect(json.vouchers.map((each: { category: string | null }) => each.category)).toEqual([
    "A",
    "B",
    "A",
    null,
  ]);
  expect(json.vouchers[3]).toMatchObject({ category_id: null, categories: [] });
  await call("GET", "/v1/vouchers");
  expect(categoryLookups).toHaveLength(1);
});

test("filters a list by the id or the name of a category, without creating one", async () => {
  const before = categoryNames.size;
  const filterOf = async (value: string) => {
    expect((await call("GET", `/v1/vouchers?category=${value}`)).status).toBe(200);
    return listRequests.at(-1);
  };
  expect(await filterOf("Books")).toMatchObject({ categoryId: "cat_1", category: undefined });
  expect(await filterOf("cat_1")).toMatchObject({ categoryId: "cat_1", category: undefined });
  expect(await filterOf("Nothing")).toMatchObject({ categoryId: "Nothing", category: undefined });
  expect(categoryNames.size).toBe(before);
  expect(await call("GET", "/v1/vouchers?category=Books&category_id=cat_1")).toMatchObject({
    status: 400,
    json: {
      key: "invalid_query_params",
      details: "Property .category and .category_id exclude each other",
    },
  });
});

test("returns the response of a write when references cannot be loaded", async () => {
  outage = new ApiError("service_unavailable");
  const edited = await call("PUT", "/v1/vouchers/x", { active: true });
  expect(edited).toMatchObject({ status: 200, json: { id: "v_1" } });
  expect((await call("GET", "/v1/vouchers/x")).status).toBe(503);
});

test("fills in the category of a voucher inside a redemption", async () => {
  const { json } = await call("GET", "/v1/redemptions/r_1");
  expect(json.voucher).toMatchObject({ category: "Books", categories: [{ id: "cat_1" }] });
});

test("shows a renamed category immediately", async () => {
  listed = ["cat_1"];
  await call("GET", "/v1/vouchers");
  await call("PUT", "/v1/categories/cat_1", { name: "Music", hierarchy: 1 });
  const { json } = await call("GET", "/v1/vouchers");
  expect(json.vouchers[0].category).toBe("Music");
});

const withRules = (...rules: string[]) => ({ type: "GIFT_VOUCHER", validation_rules: rules });

test("assigns validation rules to the reserved id before the voucher is created", async () => {
  const { json } = await call("POST", "/v1/vouchers", withRules("val_1", "val_2"));
  expect(json.id).toMatch(/^v_[0-9a-f]{18}$/);
  expect(received).toMatchObject({ reservedId: json.id, validationRules: [] });
  expect(assigned).toEqual(new Map([[json.id, ["val_1", "val_2"]]]));
  expect(json.validation_rules_assignments).toMatchObject({
    object: "list",
    data_ref: "data",
    total: 2,
    data: [
      { object: "validation_rules_assignment", rule_id: "val_1", related_object_id: json.id },
      { rule_id: "val_2" },
    ],
  });
});

test("ignores a reserved id sent by a client", async () => {
  await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER", reserved_id: "v_mine" });
  expect((received as CreateVoucherRequest).reservedId).toBeUndefined();
});

test("creates neither voucher nor assignment for an unknown rule", async () => {
  expect(await call("POST", "/v1/vouchers", withRules("val_1", "other"))).toMatchObject({
    status: 404,
    json: { key: "not_found", resource_type: "validation_rules", resource_id: "other" },
  });
  expect(received).toBeUndefined();
  expect(assigned.size).toBe(0);
});

test("removes assignments when the voucher is rejected, and retains them after an outage", async () => {
  failure = new ApiError("duplicate_found");
  expect((await call("POST", "/v1/vouchers", withRules("val_1"))).status).toBe(409);
  expect(assigned.size).toBe(0);
  failure = new ApiError("service_unavailable");
  expect((await call("POST", "/v1/vouchers", withRules("val_1"))).status).toBe(503);
  expect(assigned.size).toBe(1);
});

test("assigns rules to objects inside a new object, all or none", async () => {
  const tier = (rule: string) => ({
    name: "Tier",
    action: { discount: { type: "PERCENT", percent_off: 10 } },
    validation_rules: [rule],
  });
  const campaign = (rule: string) => ({
    name: "Sale",
    validation_rules: ["val_1"],
    promotion: { tiers: [tier("val_2"), tier(rule)] },
  });
  expect((await call("POST", "/v1/campaigns", campaign("other"))).status).toBe(404);
  expect(assigned.size).toBe(0);
  await call("POST", "/v1/campaigns", campaign("val_3"));
  const { reservedId, promotion } = received as CreateCampaignRequest;
  const tiers = promotion?.tiers ?? [];
  expect(assigned).toEqual(
    new Map([
      [reservedId, ["val_1"]],
      [tiers[0]?.reservedId, ["val_2"]],
      [tiers[1]?.reservedId, ["val_3"]],
    ]),
  );
  expect(tiers[1]).toMatchObject({ validationRules: [], name: "Tier" });
});

test("fills in the assignments of vouchers and their campaign in one call", async () => {
  assigned.set("v_2", ["val_2"]).set("camp_1", ["val_1"]);
  listed = ["v_1", "v_2"];
  const { json } = await call("GET", "/v1/vouchers");
  expect(assignmentLookups.flatMap(({ queries }) => queries)).toHaveLength(1);
  const shown = json.vouchers.map((voucher: { validation_rules_assignments: Assignments }) =>
    voucher.validation_rules_assignments.data.map((each) => each.rule_id),
  );
  expect(shown).toEqual([["val_1"], ["val_2", "val_1"]]);
});

type Assignments = { readonly data: readonly { readonly rule_id: string }[] };
