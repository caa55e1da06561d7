import { create } from "@bufbuild/protobuf";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { expect, test } from "vitest";

import { authorizeExternal, externalIdempotency, requireIds } from "./external-call.ts";

const method = VoucherService.method.createVoucher;
const claims = { name: "warehouse", internal: false, scopes: ["vouchers"], projects: ["proj_1"] };
const headers = new Headers({ "x-scrip-idempotency-key": "order-1" });

const hashOf = (metadata: Record<string, number>) => {
  const request = create(method.input, { code: "TEN", metadata });
  return externalIdempotency({ method, request, claims }, headers)?.requestHash;
};

const PROJECT = "proj_0123456789abcdef01";

test.each([
  [
    VoucherService.method.getVoucher,
    "Scope vouchers is required for scrip.voucher.v1.VoucherService/GetVoucher",
  ],
  [RedemptionService.method.getRedemption, undefined],
  [
    RedemptionService.method.commitRedemptions,
    "scrip.voucher.v1.RedemptionService/CommitRedemptions is not available to external services",
  ],
])("a call of %s without its scope is rejected with the scope", (called, details) => {
  const limited = { ...claims, scopes: ["redemptions"], projects: [PROJECT] };
  const authorize = () => authorizeExternal(called, limited, PROJECT);
  if (details === undefined) expect(authorize).not.toThrow();
  else expect(authorize).toThrow(expect.objectContaining({ options: { details } }));
});

test("a repeated request is the same, in whichever order its metadata are written", () => {
  expect(hashOf({ size: 1, color: 2 })).toEqual(hashOf({ color: 2, size: 1 }));
  expect(hashOf({ size: 1, color: 2 })).not.toEqual(hashOf({ size: 2, color: 1 }));
});

test("a request without an id that each of its paths has is rejected", () => {
  const { getVoucher, createVoucher } = VoucherService.method;
  expect(() => requireIds(getVoucher, create(getVoucher.input))).toThrow(
    expect.objectContaining({
      key: "invalid_payload",
      options: { details: "Payload should have required property 'code'" },
    }),
  );
  expect(() => requireIds(getVoucher, create(getVoucher.input, { code: "A" }))).not.toThrow();
  // Its code is generated, unless it is in the path.
  expect(() => requireIds(createVoucher, create(createVoucher.input))).not.toThrow();
});
