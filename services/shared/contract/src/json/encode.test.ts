import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { ListCategoriesResponseSchema } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CategorySchema } from "@scrip/proto/scrip/common/v1/category_pb";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import {
  RedeemableResultSchema,
  StackingRulesSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import { RedemptionSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherSchema } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { describe, expect, test } from "vitest";

import { createEncoders } from "./encode.ts";

const encoderOf = createEncoders();
const encode = (desc: DescMessage, message: Message): string => encoderOf(desc)(message);

describe("an encoded response", () => {
  test("starts with object, followed by the fields in contract order", () => {
    const category = create(CategorySchema, {
      id: "cat_1",
      name: 'say "hi"\n',
      hierarchy: 3n,
      createdAt: { seconds: 1_780_000_000n, nanos: 7_999_999 },
    });
    expect(encode(CategorySchema, category)).toBe(
      String.raw`{"object":"category","id":"cat_1","name":"say \"hi\"\n","hierarchy":3,"created_at":"2026-05-28T20:26:40.007Z"}`,
    );
  });

  test("writes nanoseconds only where the contract has them and they are not zero", () => {
    const encoded = (nanos: number) =>
      encode(
        ListCategoriesResponseSchema,
        create(ListCategoriesResponseSchema, {
          moreStartingAfter: { seconds: 1_780_000_000n, nanos },
        }),
      );
    expect(encoded(7_000_012)).toContain(`"more_starting_after":"2026-05-28T20:26:40.007000012Z"`);
    expect(encoded(7_000_000)).toContain(`"more_starting_after":"2026-05-28T20:26:40.007Z"`);
  });

  test("writes absent nullable fields as null and omits other absent fields", () => {
    const voucher = JSON.parse(encode(VoucherSchema, create(VoucherSchema, {}))) as object;
    expect(voucher).toMatchObject({ campaign: null, validity_day_of_week: null, categories: [] });
    expect(voucher).not.toHaveProperty("metadata");
    expect(voucher).not.toHaveProperty("type");
  });

  test("writes an empty list that is usually omitted when its flag is set", () => {
    const encoded = (fields: { expandsCategories?: boolean }) =>
      encode(RedeemableResultSchema, create(RedeemableResultSchema, fields));
    expect(encoded({ expandsCategories: true })).toContain(`"categories":[]`);
    expect(encoded({ expandsCategories: true })).not.toContain("expands_categories");
    expect(encoded({})).not.toContain("categories");
  });

  test("takes object from the message in lists of several kinds", () => {
    const shownAs = (object?: string) =>
      encode(RedemptionSchema, create(RedemptionSchema, { id: "r_1", ...(object && { object }) }));
    expect(shownAs()).toMatch(/^\{"object":"redemption","id":"r_1",/);
    expect(shownAs("redemption_rollback")).toMatch(/^\{"object":"redemption_rollback","id":"r_1",/);
    expect(shownAs("redemption_rollback")).not.toMatch(/"object":.*"object":"redemption/);
  });

  test("omits absent parts of an error", () => {
    const error = create(ErrorSchema, {
      code: 404,
      key: "not_found",
      message: "m",
      requestId: "v-1",
    });
    expect(encode(ErrorSchema, error)).toBe(
      '{"code":404,"key":"not_found","message":"m","request_id":"v-1"}',
    );
  });

  test("writes maps, including empty ones", () => {
    const rules = create(StackingRulesSchema, {
      applicableRedeemablesCategoryLimits: { 'a"b': 2n },
    });
    expect(JSON.parse(encode(StackingRulesSchema, rules))).toMatchObject({
      applicable_redeemables_category_limits: { 'a"b': 2 },
      exclusive_categories: [],
      redeemables_limit: 0,
    });
  });
});
