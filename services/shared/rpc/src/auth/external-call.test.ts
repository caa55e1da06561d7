import { create } from "@bufbuild/protobuf";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { expect, test } from "vitest";

import { externalIdempotency } from "./external-call.ts";

const method = VoucherService.method.createVoucher;
const claims = { name: "warehouse", internal: false, scopes: ["vouchers"], projects: ["proj_1"] };
const headers = new Headers({ "x-scrip-idempotency-key": "order-1" });

const hashOf = (metadata: Record<string, number>) => {
  const request = create(method.input, { code: "TEN", metadata });
  return externalIdempotency({ method, request, claims }, headers)?.requestHash;
};

test("a repeated request is the same, in whichever order its metadata are written", () => {
  expect(hashOf({ size: 1, color: 2 })).toEqual(hashOf({ color: 2, size: 1 }));
  expect(hashOf({ size: 1, color: 2 })).not.toEqual(hashOf({ size: 2, color: 1 }));
});
