import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { CreateCategoryRequestSchema } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { GetCategoryRequestSchema } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { DiscountSchema } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  DailyHoursSchema,
  ValidityTimeframeSchema,
} from "@scrip/proto/scrip/common/v1/validity_pb";
import { ValidateRequestSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";
import {
  CreateVoucherRequestSchema,
  ListVouchersRequestSchema,
  LoyaltyCardSchema,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { expect, test } from "vitest";

import { compileCheck } from "./check.ts";

function details<Desc extends DescMessage>(
  desc: Desc,
  init: MessageInitShape<Desc>,
): string | undefined {
  return compileCheck(desc)(create(desc, init));
}

const voucher = { object: "voucher", id: "A" };
const ten = 10_000_000_000_000n;

test.each([
  [details(ValidateRequestSchema, {}), "Payload should have required property 'redeemables'"],
  [
    details(ValidateRequestSchema, { redeemables: [voucher, { object: "voucher" }] }),
    "Property .redeemables[1] should have required property 'id'",
  ],
  [
    details(ValidateRequestSchema, { redeemables: Array.from({ length: 31 }, () => voucher) }),
    "Property .redeemables must NOT have more than 30 items",
  ],
  [
    details(ValidateRequestSchema, { redeemables: [{ object: "coupon", id: "A" }] }),
    "Property .redeemables[0].object must be one of: voucher, promotion_tier, promotion_stack",
  ],
  [
    details(ValidateRequestSchema, {
      redeemables: [{ ...voucher, gift: { credits: -1n } }],
    }),
    "Property .redeemables[0].gift.credits cannot be lower than 0",
  ],
  [details(CreateCategoryRequestSchema, {}), "Payload should have required property 'name'"],
  [
    details(CreateVoucherRequestSchema, { type: 1, code: "" }),
    "Property .code must NOT have fewer than 1 characters",
  ],
  [
    details(CreateVoucherRequestSchema, { type: 1, validityDayOfWeek: [0, 7] }),
    "Property .validity_day_of_week[1] cannot be higher than 6",
  ],
  [
    details(CreateVoucherRequestSchema, { type: 1, redemption: { quantity: ten + 1n } }),
    "Property .redemption.quantity cannot be higher than 10000000000000",
  ],
  [
    details(ListVouchersRequestSchema, { limit: 101n }),
    "Property .limit cannot be higher than 100",
  ],
  [details(ListVouchersRequestSchema, { limit: 0n }), "Property .limit cannot be lower than 1"],
  [
    details(DiscountSchema, { type: 1, percentOff: "100.000000000000000000001" }),
    "Property .percent_off cannot be higher than 100",
  ],
  [
    details(DiscountSchema, { type: 1, percentOff: "-0.1" }),
    "Property .percent_off cannot be lower than 0",
  ],
  [details(DiscountSchema, { type: 1, percentOff: "1e1" }), "Property .percent_off must be number"],
  [
    details(ValidityTimeframeSchema, { interval: "P1D", duration: "1 hour" }),
    "Property .duration must be an ISO 8601 duration",
  ],
  [
    details(DailyHoursSchema, { startTime: "24:00", expirationTime: "10:00", daysOfWeek: [1] }),
    'Property .start_time must match pattern "([01][0-9]|2[0-3]):[0-5][0-9]"',
  ],
  [
    details(LoyaltyCardSchema, { nextExpirationDate: "2026-02-29" }),
    "Property .next_expiration_date must be a date (YYYY-MM-DD)",
  ],
])("reports %s", (actual, expected) => {
  expect(actual).toBe(expected);
});

test("counts characters, not UTF-16 units", () => {
  expect(details(CustomerSchema, { name: "😀".repeat(300) })).toBeUndefined();
  expect(details(CustomerSchema, { name: "😀".repeat(301) })).toBe(
    "Property .name must NOT have more than 300 characters",
  );
});

test("accepts a message that satisfies its rules", () => {
  expect(details(ValidateRequestSchema, { redeemables: [voucher] })).toBeUndefined();
  expect(details(DiscountSchema, { type: 1, percentOff: "100" })).toBeUndefined();
  expect(details(LoyaltyCardSchema, { nextExpirationDate: "2024-02-29" })).toBeUndefined();
});

const nested = (depth: number): { a: unknown } =>
  depth === 0 ? { a: 1 } : { a: nested(depth - 1) };

test.each([
  ["NUL", { name: "a\0" }, "Property .name must not contain NUL or lone surrogates"],
  ["half a pair", { name: "\ud83d" }, "Property .name must not contain NUL or lone surrogates"],
  [
    "NUL in metadata",
    { metadata: { a: ["\0"] } },
    "Property .metadata must not contain NUL or lone surrogates",
  ],
  [
    "NUL in a key",
    { metadata: { "\0": 1 } },
    "Property .metadata must not contain NUL or lone surrogates",
  ],
  [
    "33 levels",
    { metadata: nested(33) as never },
    "Property .metadata must not be nested deeper than 32 levels",
  ],
  [
    "10,001 values",
    { metadata: { a: Array.from({ length: 10_000 }, () => 1) } },
    "Property .metadata must NOT have more than 10000 values",
  ],
  [
    "infinity",
    { metadata: { a: Number.POSITIVE_INFINITY } },
    "Property .metadata must hold finite numbers",
  ],
  [
    "__proto__",
    { metadata: JSON.parse('{"__proto__":1}') as never },
    "Property .metadata must not have the property '__proto__'",
  ],
])("rejects from gRPC callers what the HTTP edge rejects: %s", (_, init, expected) => {
  expect(details(CustomerSchema, init)).toBe(expected);
});

test("rejects integers, enums and timestamps that JSON cannot represent", () => {
  const base = { redeemables: [voucher] };
  const unsafe = BigInt(Number.MAX_SAFE_INTEGER) + 1n;
  const session = { type: "LOCK", ttl: unsafe };
  expect(details(ValidateRequestSchema, { ...base, session })).toBe(
    "Property .session.ttl must be an integer between -9007199254740991 and 9007199254740991",
  );
  expect(details(ValidateRequestSchema, { ...base, order: { status: 99 as never } })).toBe(
    "Property .order.status must be one of: CREATED, PAID, CANCELED, FULFILLED",
  );
  const late = { seconds: 253_402_300_800n, nanos: 0 };
  expect(details(CreateVoucherRequestSchema, { type: 1, startDate: late })).toBe(
    "Property .start_date must be within the years 0001 to 9999",
  );
});

test("does not repeat the checks of the HTTP edge", () => {
  const check = compileCheck(CustomerSchema, { fromJson: true });
  expect(check(create(CustomerSchema, { name: "a\0" }))).toBeUndefined();
  const nothing = compileCheck(GetCategoryRequestSchema, { fromJson: true });
  expect(nothing).toBe(compileCheck(GetCategoryRequestSchema, { fromJson: true }));
});
