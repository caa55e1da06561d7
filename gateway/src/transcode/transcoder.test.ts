import { ApiError } from "@scrip/errors";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { describe, expect, test } from "vitest";

import { bindingAt } from "../../test/transcode/public-contract.ts";
import { createTranscoder } from "./transcoder.ts";

const transcoder = createTranscoder();

type Sent = { path?: string[]; query?: string; body?: unknown };

function decode(method: string, path: string, sent: Sent): Record<string, unknown> {
  const text = typeof sent.body === "string" ? sent.body : JSON.stringify(sent.body);
  const message = transcoder.bind(bindingAt(method, path)).decode({
    path: sent.path ?? [],
    query: sent.query ?? "",
    body: sent.body === undefined ? undefined : Buffer.from(text),
  });
  return message;
}

function rejection(method: string, path: string, sent: Sent): string {
  try {
    decode(method, path, sent);
  } catch (error) {
    if (error instanceof ApiError) return `${error.key}: ${error.options.details}`;
    throw error;
  }
  return "accepted";
}

const createVoucher = (body: object): Record<string, unknown> =>
  decode("POST", "/v1/vouchers", { body: { type: "DISCOUNT_VOUCHER", ...body } });
const redeem = (sent: Sent): Record<string, unknown> =>
  decode("POST", "/v1/vouchers/{code}/redemption", { path: ["ABC"], body: {}, ...sent });
const update = (sent: Sent): Record<string, unknown> =>
  decode("PUT", "/v1/vouchers/{code}", { path: ["ABC"], ...sent });
const list = (query: string): Record<string, unknown> => decode("GET", "/v1/vouchers", { query });

const percent = (value: unknown): unknown => {
  const discount = createVoucher({ discount: { type: "PERCENT", percent_off: value } });
  return (discount["discount"] as Record<string, unknown>)["percentOff"];
};

const customer = (value: unknown): unknown => redeem({ body: { customer: value } })["customer"];

describe("a body", () => {
  test("creates a message with the defaults of protobuf-es", () => {
    expect(createVoucher({})).toStrictEqual({
      $typeName: "scrip.voucher.v1.CreateVoucherRequest",
      type: VoucherType.DISCOUNT_VOUCHER,
      validityDayOfWeek: [],
      validationRules: [],
    });
  });

  test("may be absent or empty, which is read as {}", () => {
    const empty = { $typeName: "scrip.voucher.v1.EnableVoucherRequest", code: "ABC" };
    const at = ["POST", "/v1/vouchers/{code}/enable"] as const;
    expect(decode(...at, { path: ["ABC"] })).toStrictEqual(empty);
    expect(decode(...at, { path: ["ABC"], body: "" })).toStrictEqual(empty);
    expect(decode(...at, { path: ["ABC"], body: {} })).toStrictEqual(empty);
  });

  test("treats null as absent and ignores unknown properties", () => {
    const body = { campaign: null, validity_day_of_week: null, metadata: null, toString: 1, x: {} };
    expect(createVoucher(body)).toStrictEqual(createVoucher({}));
  });

  test("accepts strings of digits as numbers, exactly", () => {
    const item = { quantity: "3", price: "9007199254740", amount: 1e3 };
    expect(redeem({ body: { order: { items: [item] } } })["order"]).toMatchObject({
      items: [{ quantity: 3n, price: 9_007_199_254_740n, amount: 1000n }],
    });
    expect(
      rejection("POST", "/v1/vouchers/{code}/redemption", {
        path: ["A"],
        body: { gift: { credits: "-5" } },
      }),
    ).toBe("invalid_payload: Property .gift.credits cannot be lower than 0");
  });

  test.each([
    [{ amount: 1.5 }, "invalid_order: Property .order.amount must be integer"],
    [
      { items: [{ quantity: 0.5 }] },
      "invalid_order: Property .order.items[0].quantity must be integer",
    ],
    [{ amount: "many" }, "invalid_payload: Property .order.amount must be number"],
  ])("distinguishes an invalid order from a malformed one: %j", (order, rejected) => {
    const sent = { path: ["A"], body: { order } };
    expect(rejection("POST", "/v1/vouchers/{code}/redemption", sent)).toBe(rejected);
  });

  test("is separate from a field of the query that has the same name", () => {
    const at = ["POST", "/v1/vouchers/qualification"] as const;
    const order = { amount: 100 };
    const query = "order=created_at&limit=2";
    expect(decode(...at, { query, body: { order } })).toMatchObject({
      order: { amount: 100n },
      sortOrder: "created_at",
      limit: 2n,
    });
    expect(decode(...at, { query })["order"]).toBeUndefined();
    expect(decode(...at, { body: { order } })["sortOrder"]).toBeUndefined();
    const text = { order: "created_at" };
    expect(rejection(...at, { body: text })).toMatch("Property .order must be object");
  });

  test("decodes decimals as their shortest text", () => {
    expect(percent(12.5)).toBe("12.5");
    expect(percent("012.50")).toBe("12.5");
    expect(percent("33.333333333333333333")).toBe("33.333333333333333333");
    expect(percent(1e-7)).toBe("0.0000001");
  });

  test("accepts a string as a customer", () => {
    expect(customer("shop-7")).toMatchObject({ sourceId: "shop-7" });
    expect(customer("cust_1")).toStrictEqual({
      $typeName: "scrip.common.v1.Customer",
      id: "cust_1",
    });
    expect(customer({ source_id: "cust_1" })).toMatchObject({ sourceId: "cust_1" });
  });

  test("ignores internal fields", () => {
    const message = update({ body: { update_mask: { paths: ["code"] }, updateMask: ["x"] } });
    expect(message["updateMask"]).toMatchObject({ paths: [] });
  });
});

describe("an update", () => {
  test("lists the fields that were sent, including null, in its mask", () => {
    const body = { active: null, additional_info: "x", metadata: { a: null }, junk: 1 };
    expect(update({ body })["updateMask"]).toStrictEqual({
      $typeName: "google.protobuf.FieldMask",
      paths: ["active", "additional_info", "metadata"],
    });
    expect(update({})["updateMask"]).toMatchObject({ paths: [] });
  });

  test("ignores a repeated code or id", () => {
    const message = update({ body: { code: "OTHER", id: "v_1", active: true } });
    expect(message).toMatchObject({ code: "ABC", active: true, updateMask: { paths: ["active"] } });
  });
});

describe("a path", () => {
  test("decodes codes with any characters", () => {
    const code = "50% off/ü #1 +?";
    expect(redeem({ path: [encodeURIComponent(code)] })["code"]).toBe(code);
    expect(redeem({ path: ["a+b"] })["code"]).toBe("a+b");
  });

  test("takes precedence over body and query", () => {
    expect(redeem({ query: "code=QUERY", body: { code: "BODY" } })["code"]).toBe("ABC");
  });

  test.each(["%", "%zz", "%ff", "%ed%a0%80", "%00", "a%00b"])("rejects %s", (segment) => {
    const at = ["POST", "/v1/vouchers/{code}/redemption"] as const;
    expect(rejection(...at, { path: [segment], body: {} })).toMatch(
      /^invalid_payload: Payload has a path/,
    );
    expect(rejection("GET", "/v1/vouchers/{code}", { path: [segment] })).toMatch(
      /^invalid_payload/,
    );
  });
});

describe("a query", () => {
  test("fills fields that the body lacks", () => {
    expect(redeem({ query: "tracking_id=q" })["trackingId"]).toBe("q");
    expect(redeem({ query: "tracking_id=q", body: { tracking_id: "b" } })["trackingId"]).toBe("b");
    expect(redeem({ query: "tracking_id=q", body: { tracking_id: null } })["trackingId"]).toBe("q");
  });

  test("is typed by the contract", () => {
    const query =
      "limit=7&page=&order=-created_at&[created_at][after]=2026-01-01T00:00:00%2B02:00&created_at[before]=2026-02-01";
    expect(list(query)).toMatchObject({
      limit: 7n,
      order: "-created_at",
      createdAt: { after: { seconds: 1_767_218_400n }, before: { seconds: 1_769_904_000n } },
    });
    expect(list(query)).not.toHaveProperty("page");
  });

  test.each(["true", "TRUE", "True"])("accepts %s", (value) => {
    const message = decode("DELETE", "/v1/vouchers/{code}", {
      path: ["A"],
      query: `force=${value}`,
    });
    expect(message["force"]).toBe(true);
  });

  test.each(["filters[code][conditions][$in][0]=A", "filters=A", "updated_at[after]=2026-01-01"])(
    "of a list without this filter is rejected: %s",
    (query) => {
      const [filter = ""] = query.split(/[[=]/);
      expect(() => decode("GET", "/management/v1/projects", { query })).toThrow(
        expect.objectContaining({
          key: "invalid_query_params",
          options: { details: `Property .${filter} is not a filter of this list` },
        }),
      );
      expect(decode("GET", "/v1/categories", { query: "utm_source=mail" })).toBeDefined();
    },
  );

  test("decodes filters as a tree of strings", () => {
    const filters =
      "filters[code][conditions][$in][0]=A&filters[code][conditions][$in][1]=B&filters[junction]=OR";
    expect(list(filters)["filters"]).toEqual({
      code: { conditions: { $in: ["A", "B"] } },
      junction: "OR",
    });
  });

  test.each([
    ["limit=101", "Property .limit cannot be higher than 100"],
    ["limit=0", "Property .limit cannot be lower than 1"],
    ["limit=x", "Property .limit must be number"],
    ["limit=1.5", "Property .limit must be number"],
    ["limit=1&limit=2", "Property .limit must be number"],
    ["limit[a]=1", "Property .limit must be number"],
    [
      "order=password",
      expect.stringContaining("Property .order must be one of: created_at, -created_at"),
    ],
    [
      "created_at[after]=soon",
      "Property .created_at.after cannot be recognized as a ISO-8601 compliant date",
    ],
    ["created_at[since]=2026-01-01", "Property .created_at.since is not a filter of this list"],
    ["created_at=2026-01-01", "Property .created_at must be object"],
    ["filters=x", "Property .filters must be object"],
    ["code=%ff", "Query must be percent-encoded UTF-8"],
    ["a[b=1", "Query must not have the malformed name 'a[b'"],
  ])("rejects %s", (query, details) => {
    const rejected = rejection("GET", "/v1/vouchers", { query });
    expect(rejected.slice(0, 22)).toBe("invalid_query_params: ");
    expect(rejected.slice(22)).toEqual(details);
  });
});

describe("a form", () => {
  test("is decoded from text and may not repeat parameters", () => {
    const at = ["POST", "/v1/oauth/token"] as const;
    const body = "grant_type=client_credentials&scope=vouchers+validations";
    expect(decode(...at, { body })).toMatchObject({
      grantType: "client_credentials",
      scope: "vouchers validations",
    });
    expect(rejection(...at, { body: "scope=a&scope=b" })).toBe(
      "invalid_payload: Payload must not repeat 'scope'",
    );
  });
});

describe("invalid values are rejected with their path:", () => {
  const redeemable = { object: "voucher", id: "A" };
  test.each<[string, object, string]>([
    ["missing", {}, "Payload should have required property 'redeemables'"],
    ["null", { redeemables: null }, "Payload should have required property 'redeemables'"],
    ["empty", { redeemables: [] }, "Property .redeemables must NOT have fewer than 1 items"],
    [
      "too many",
      { redeemables: Array.from({ length: 31 }, () => redeemable) },
      "Property .redeemables must NOT have more than 30 items",
    ],
    ["not a list", { redeemables: redeemable }, "Property .redeemables must be array"],
    ["a null item", { redeemables: [null] }, "Property .redeemables[0] must not be null"],
    ["a text item", { redeemables: ["A"] }, "Property .redeemables[0] must be object"],
    [
      "nested missing",
      { redeemables: [redeemable, { object: "voucher" }] },
      "Property .redeemables[1] should have required property 'id'",
    ],
    [
      "nested empty",
      { redeemables: [{ object: "voucher", id: "" }] },
      "Property .redeemables[0].id must NOT have fewer than 1 characters",
    ],
    [
      "not of the list",
      { redeemables: [{ object: "coupon", id: "A" }] },
      "Property .redeemables[0].object must be one of: voucher, promotion_tier, promotion_stack",
    ],
    [
      "number for text",
      { redeemables: [{ object: "voucher", id: 5 }] },
      "Property .redeemables[0].id must be string",
    ],
    [
      "number for object",
      { redeemables: [redeemable], customer: 5 },
      "Property .customer must be object",
    ],
    ["list for object", { redeemables: [redeemable], order: [] }, "Property .order must be object"],
    [
      "text for object",
      { redeemables: [redeemable], order: "ord_1" },
      "Property .order must be object",
    ],
    [
      "list for metadata",
      { redeemables: [redeemable], metadata: [] },
      "Property .metadata must be object",
    ],
    [
      "fraction",
      { redeemables: [{ ...redeemable, gift: { credits: 1.5 } }] },
      "Property .redeemables[0].gift.credits must be integer",
    ],
    [
      "unsafe",
      { redeemables: [{ ...redeemable, gift: { credits: 9_007_199_254_740_992 } }] },
      "Property .redeemables[0].gift.credits must be an integer between -9007199254740991 and 9007199254740991",
    ],
    [
      "unsafe text",
      { redeemables: [{ ...redeemable, gift: { credits: "9007199254740993" } }] },
      "Property .redeemables[0].gift.credits must be an integer between -9007199254740991 and 9007199254740991",
    ],
    [
      "text for number",
      { redeemables: [redeemable], order: { amount: "1e3" } },
      "Property .order.amount must be number",
    ],
    [
      "boolean for number",
      { redeemables: [redeemable], order: { amount: true } },
      "Property .order.amount must be number",
    ],
    [
      "below",
      { redeemables: [{ ...redeemable, gift: { credits: -1 } }] },
      "Property .redeemables[0].gift.credits cannot be lower than 0",
    ],
    [
      "above",
      { redeemables: [{ ...redeemable, gift: { credits: 1e14 } }] },
      "Property .redeemables[0].gift.credits cannot be higher than 10000000000000",
    ],
    [
      "unknown enum",
      { redeemables: [redeemable], order: { status: "LOST" } },
      "Property .order.status must be one of: CREATED, PAID, CANCELED, FULFILLED",
    ],
    [
      "long",
      { redeemables: [redeemable], tracking_id: "x".repeat(256) },
      "Property .tracking_id must NOT have more than 255 characters",
    ],
    [
      "prototype name",
      { redeemables: [redeemable], order: { status: "constructor" } },
      "Property .order.status must be one of: CREATED, PAID, CANCELED, FULFILLED",
    ],
  ])("%s", (_, body, details) => {
    expect(rejection("POST", "/v1/validations", { body })).toBe(`invalid_payload: ${details}`);
  });

  test.each<[object, string]>([
    [
      { type: "GIFT" },
      "Property .type must be one of: DISCOUNT_VOUCHER, GIFT_VOUCHER, LOYALTY_CARD",
    ],
    [{ type: 1 }, "Property .type must be one of: DISCOUNT_VOUCHER, GIFT_VOUCHER, LOYALTY_CARD"],
    [
      { type: "VOUCHER_TYPE_GIFT_VOUCHER" },
      "Property .type must be one of: DISCOUNT_VOUCHER, GIFT_VOUCHER, LOYALTY_CARD",
    ],
    [
      { type: "UNSPECIFIED" },
      "Property .type must be one of: DISCOUNT_VOUCHER, GIFT_VOUCHER, LOYALTY_CARD",
    ],
    [
      { type: "GIFT_VOUCHER", redemption: { quantity: "many" } },
      "Property .redemption.quantity should be number,null",
    ],
    [{ type: "GIFT_VOUCHER", active: "true" }, "Property .active must be boolean"],
    [
      { type: "GIFT_VOUCHER", start_date: "2026-02-30" },
      "Property .start_date cannot be recognized as a ISO-8601 compliant date",
    ],
    [
      { type: "GIFT_VOUCHER", start_date: 5 },
      "Property .start_date cannot be recognized as a ISO-8601 compliant date",
    ],
    [
      { type: "GIFT_VOUCHER", validity_day_of_week: [7] },
      "Property .validity_day_of_week[0] cannot be higher than 6",
    ],
    [
      { type: "GIFT_VOUCHER", validity_timeframe: { interval: "P1D", duration: "an hour" } },
      "Property .validity_timeframe.duration must be an ISO 8601 duration",
    ],
    [
      { type: "GIFT_VOUCHER", discount: { type: "PERCENT", percent_off: 100.01 } },
      "Property .discount.percent_off cannot be higher than 100",
    ],
    [
      { type: "GIFT_VOUCHER", discount: { type: "PERCENT", percent_off: "ten" } },
      "Property .discount.percent_off must be number",
    ],
    [
      {
        type: "GIFT_VOUCHER",
        validity_hours: { daily: [{ start_time: "25:00", expiration_time: "10:00" }] },
      },
      'Property .validity_hours.daily[0].start_time must match pattern "([01][0-9]|2[0-3]):[0-5][0-9]"',
    ],
  ])("%j", (body, details) => {
    expect(rejection("POST", "/v1/vouchers", { body })).toBe(`invalid_payload: ${details}`);
  });

  test.each(["[]", "5", "null", '"x"', "true"])("a body that is %s", (body) => {
    expect(rejection("POST", "/v1/vouchers", { body })).toBe(
      "invalid_payload: Payload must be object",
    );
  });
});
