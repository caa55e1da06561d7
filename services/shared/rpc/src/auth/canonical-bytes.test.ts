import { create, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CreateStackingRulesRequestSchema } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import { RedeemVoucherRequestSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { expect, test } from "vitest";

import { canonicalBytes } from "./canonical-bytes.ts";

const redemption = (metadata: Record<string, any>, ofItem: Record<string, any>) =>
  create(RedeemVoucherRequestSchema, {
    code: "TEN",
    metadata,
    order: { amount: 1_000n, items: [{ sourceId: "mug", metadata: ofItem }] },
  });

test("the order of the entries of structs does not matter, at any depth", () => {
  const one = redemption({ a: 1, b: [{ c: 2, d: { e: 3, f: 4 } }] }, { g: 5, h: 6 });
  const other = redemption({ b: [{ d: { f: 4, e: 3 }, c: 2 }], a: 1 }, { h: 6, g: 5 });
  const bytes = canonicalBytes(RedeemVoucherRequestSchema, one);
  expect(canonicalBytes(RedeemVoucherRequestSchema, other)).toEqual(bytes);
  expect(
    equals(RedeemVoucherRequestSchema, fromBinary(RedeemVoucherRequestSchema, bytes), one),
  ).toBe(true);
});

test("the order of the entries of maps does not matter", () => {
  const rules = (limits: Record<string, bigint>) =>
    canonicalBytes(
      CreateStackingRulesRequestSchema,
      create(CreateStackingRulesRequestSchema, { applicableRedeemablesCategoryLimits: limits }),
    );
  expect(rules({ x: 1n, y: 2n })).toEqual(rules({ y: 2n, x: 1n }));
  expect(rules({ x: 1n, y: 2n })).not.toEqual(rules({ x: 2n, y: 1n }));
});

test("other values and the order of lists do matter, and the message stays as it was sent", () => {
  const sent = redemption({ b: 1, a: [1, 2] }, {});
  const bytes = canonicalBytes(RedeemVoucherRequestSchema, sent);
  for (const other of [{ a: [2, 1], b: 1 }, { a: [1, 2], b: 2 }, { a: [1, 2] }]) {
    expect(canonicalBytes(RedeemVoucherRequestSchema, redemption(other, {}))).not.toEqual(bytes);
  }
  expect(Object.keys(sent.metadata ?? {})).toEqual(["b", "a"]);
});

test("without maps, the bytes are those of the message", () => {
  const sent = create(RedeemVoucherRequestSchema, { code: "TEN", gift: { credits: 5n } });
  expect(canonicalBytes(RedeemVoucherRequestSchema, sent)).toEqual(
    toBinary(RedeemVoucherRequestSchema, sent),
  );
});
