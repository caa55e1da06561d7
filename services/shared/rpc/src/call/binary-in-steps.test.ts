import { create, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import { QualificationsSchema } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import {
  RedeemableResultSchema,
  ValidationSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import { expect, test } from "vitest";

import { fromBinaryInSteps, toBinaryInSteps } from "./binary-in-steps.ts";

/** The result of the steps, and their number. */
function run<Result>(steps: Generator<void, Result>): {
  readonly result: Result;
  readonly count: number;
} {
  for (let count = 1; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, count };
  }
}

const order = (lines: number) => ({
  amount: 500n,
  items: Array.from({ length: lines }, (_, line) => ({ productId: `prod_${line}`, quantity: 1n })),
  metadata: { text: "x".repeat(1_000), list: [1, null, { deep: true }] },
});

const results = (count: number, lines: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `CODE-${at}`,
    object: "voucher",
    status: "APPLICABLE",
    order: order(lines),
  }));

const validation = create(ValidationSchema, {
  id: "valid_1",
  valid: true,
  redeemables: results(10, 3_000),
  skippedRedeemables: results(2, 0),
  order: order(4_000),
});
const qualification = create(QualificationsSchema, {
  redeemables: {
    data: results(10, 3_000).map(({ id, order: each }) => ({ id, order: each })),
    hasMore: true,
  },
  trackingId: "track_1",
});

test.each([
  ["a list", ValidationSchema, validation],
  ["a list in a message", QualificationsSchema, qualification],
])("encodes and decodes %s in steps", (_name, schema, message) => {
  const encoded = run(toBinaryInSteps(schema, message));
  expect(encoded.count).toBeGreaterThanOrEqual(10);
  expect(equals(schema, fromBinary(schema, encoded.result), message)).toBe(true);
  const decoded = run(fromBinaryInSteps(schema, toBinary(schema, message)));
  expect(decoded.count).toBeGreaterThan(5);
  expect(equals(schema, decoded.result as typeof message, message)).toBe(true);
});

test("merges what a sender has split into several parts", () => {
  const parts = [
    validation,
    create(ValidationSchema, { order: order(3_000), redeemables: results(1, 1) }),
  ];
  const bytes = Buffer.concat(parts.map((part) => toBinary(ValidationSchema, part)));
  const { result } = run(fromBinaryInSteps(ValidationSchema, bytes));
  const merged = fromBinary(ValidationSchema, bytes);
  expect(merged.order?.items).toHaveLength(7_000);
  expect(equals(ValidationSchema, result as typeof merged, merged)).toBe(true);
});

test("keeps the fields of a newer release", () => {
  const newer = Buffer.concat([
    toBinary(ValidationSchema, validation),
    Buffer.from([0xf8, 0x7f, 0x01]),
  ]);
  const { result } = run(fromBinaryInSteps(ValidationSchema, newer));
  expect(result.$unknown).toHaveLength(1);
  const again = fromBinary(ValidationSchema, run(toBinaryInSteps(ValidationSchema, result)).result);
  expect(again.$unknown).toEqual(result.$unknown);
});

test("rejects bytes that are not a message", () => {
  const bytes = toBinary(RedeemableResultSchema, create(RedeemableResultSchema, { id: "A" }));
  expect(() => run(fromBinaryInSteps(ValidationSchema, bytes.subarray(0, 2)))).toThrow(
    "premature EOF",
  );
});
