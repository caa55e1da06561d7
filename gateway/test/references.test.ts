import { create } from "@bufbuild/protobuf";
import { Refusal } from "@scrip/errors";
import {
  CategoryService,
  type ResolveCategoriesRequest,
  ResolveCategoriesResponseSchema,
  type UpdateCategoryRequest,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CategorySchema } from "@scrip/proto/scrip/common/v1/category_pb";
import { RedemptionSchema, RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type CreateVoucherRequest,
  ListVouchersResponseSchema,
  type UpdateVoucherRequest,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, beforeEach, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./http.ts";
import { standIn } from "./stand-ins.ts";
import { startTestGateway } from "./start.ts";

const names = new Map([["cat_1", "Books"]]);
const batches: ResolveCategoriesRequest[] = [];
let arrived: CreateVoucherRequest | UpdateVoucherRequest | undefined;
let listed: string[] = [];

const category = (id: string) => create(CategorySchema, { id, name: names.get(id) ?? "" });

const gateway = await startTestGateway({
  implementations: [
    standIn(VoucherService, {
      async createVoucher(request: CreateVoucherRequest) {
        arrived = request;
        const categoryId = request.categoryId ?? "";
        return create(VoucherSchema, { id: "v_1", ...(categoryId !== "" && { categoryId }) });
      },
      async updateVoucher(request: UpdateVoucherRequest) {
        arrived = request;
        return create(VoucherSchema, { id: "v_1" });
      },
      async listVouchers() {
        return create(ListVouchersResponseSchema, {
          vouchers: listed.map((categoryId) => ({ categoryId })),
        });
      },
    }),
    standIn(RedemptionService, {
      async getRedemption() {
        return create(RedemptionSchema, { id: "r_1", voucher: { id: "v_1", categoryId: "cat_1" } });
      },
    }),
    standIn(CategoryService, {
      async resolveCategories(request: ResolveCategoriesRequest) {
        batches.push(request);
        return create(ResolveCategoriesResponseSchema, {
          answers: request.queries.map(({ id, name }) => {
            if (id !== undefined) return names.has(id) ? { category: category(id) } : {};
            const known = [...names].find(([, each]) => each === name)?.[0];
            const found = known ?? `cat_${names.size + 1}`;
            names.set(found, name ?? "");
            return { category: category(found) };
          }),
        });
      },
      async updateCategory({ categoryId, name }: UpdateCategoryRequest) {
        if (!names.has(categoryId)) throw new Refusal("not_found");
        names.set(categoryId, name);
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
  batches.length = 0;
  arrived = undefined;
});

test("the name of a category becomes its id, and its answer shows both", async () => {
  const { json } = await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER", category: "Books" });
  expect(arrived).toMatchObject({ categoryId: "cat_1" });
  expect(arrived?.category).toBeUndefined();
  expect(json).toMatchObject({
    category: "Books",
    category_id: "cat_1",
    categories: [{ id: "cat_1", name: "Books", object: "category" }],
  });
});

test("a new name makes a category", async () => {
  const { json } = await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER", category: "New" });
  expect(json).toMatchObject({ category: "New", category_id: expect.stringMatching(/^cat_/) });
});

test("an unknown id is 404, and both at once are a mistake", async () => {
  const unknown = { type: "GIFT_VOUCHER", category_id: "cat_none" };
  expect(await call("POST", "/v1/vouchers", unknown)).toMatchObject({
    status: 404,
    json: { key: "not_found", resource_type: "category", resource_id: "cat_none" },
  });
  const both = { type: "GIFT_VOUCHER", category_id: "cat_1", category: "Books" };
  expect(await call("POST", "/v1/vouchers", both)).toMatchObject({
    status: 400,
    json: { key: "invalid_payload" },
  });
  expect(arrived).toBeUndefined();
});

test("without a category nothing is looked up", async () => {
  const { json } = await call("POST", "/v1/vouchers", { type: "GIFT_VOUCHER" });
  expect(batches).toEqual([]);
  expect(json).toMatchObject({ category: null, category_id: null, categories: [] });
});

test("an update says that the id was sent, also for a name and for null", async () => {
  await call("PUT", "/v1/vouchers/x", { category: "Books" });
  expect(arrived).toMatchObject({ categoryId: "cat_1", updateMask: { paths: ["category_id"] } });
  await call("PUT", "/v1/vouchers/x", { category: null, active: true });
  expect(arrived).toMatchObject({ updateMask: { paths: ["category_id", "active"] } });
  expect((arrived as UpdateVoucherRequest).categoryId).toBeUndefined();
  await call("PUT", "/v1/vouchers/x", { active: true });
  expect(arrived).toMatchObject({ updateMask: { paths: ["active"] } });
});

test("a list looks each category up once, all in one call", async () => {
  names.set("cat_a", "A").set("cat_b", "B");
  listed = ["cat_a", "cat_b", "cat_a", "cat_gone"];
  const { json } = await call("GET", "/v1/vouchers");
  expect(batches).toHaveLength(1);
  expect(batches[0]?.queries).toHaveLength(3);
  expect(json.vouchers.map((each: { category: string | null }) => each.category)).toEqual([
    "A",
    "B",
    "A",
    null,
  ]);
  expect(json.vouchers[3]).toMatchObject({ category_id: null, categories: [] });
  await call("GET", "/v1/vouchers");
  expect(batches).toHaveLength(1);
});

test("a voucher inside a redemption shows its category too", async () => {
  const { json } = await call("GET", "/v1/redemptions/r_1");
  expect(json.voucher).toMatchObject({ category: "Books", categories: [{ id: "cat_1" }] });
});

test("a new name shows at once", async () => {
  listed = ["cat_1"];
  await call("GET", "/v1/vouchers");
  await call("PUT", "/v1/categories/cat_1", { name: "Music", hierarchy: 1 });
  const { json } = await call("GET", "/v1/vouchers");
  expect(json.vouchers[0].category).toBe("Music");
});
