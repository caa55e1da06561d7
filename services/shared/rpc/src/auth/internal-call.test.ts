import type { DescMethod } from "@bufbuild/protobuf";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { expect, test } from "vitest";

import { authorizeInternal } from "./internal-call.ts";

const { getRedemption, commitRedemptions, commitRollbacks } = RedemptionService.method;
const callers = { validation: [commitRedemptions] };

const accepts = (name: string, method: DescMethod): boolean => {
  const claims = { name, internal: true, scopes: [], projects: ["proj_a"] };
  try {
    authorizeInternal(method, claims, { projectId: "proj_a", callers });
    return true;
  } catch {
    return false;
  }
};

test("the gateway may call public RPCs, a listed service the RPCs of its list, and others none", () => {
  const table = ["gateway", "validation", "loyalty", "constructor"].map((name) =>
    [getRedemption, commitRedemptions, commitRollbacks].map((method) => accepts(name, method)),
  );
  expect(table).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, false],
    [false, false, false],
  ]);
});

test("a caller has no access to projects that its token does not list", () => {
  const claims = { name: "validation", internal: true, scopes: [], projects: ["proj_a"] };
  expect(() =>
    authorizeInternal(commitRedemptions, claims, { projectId: "proj_b", callers }),
  ).toThrow("Forbidden");
});
