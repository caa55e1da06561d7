import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { expect, test } from "vitest";

import { authorizeInternal } from "./internal-call.ts";

const callers = { [RedemptionService.typeName]: ["validation"] };
const { getRedemption, commitRedemptions } = RedemptionService.method;

const accepts = (
  name: string,
  method: typeof getRedemption | typeof commitRedemptions,
): boolean => {
  const claims = { name, internal: true, scopes: [], projects: ["proj_a"] };
  try {
    authorizeInternal(method, claims, { projectId: "proj_a", callers });
    return true;
  } catch {
    return false;
  }
};

test("the gateway may call public RPCs only, a listed service all, and others none", () => {
  const table = ["gateway", "validation", "loyalty"].map((name) => [
    accepts(name, getRedemption),
    accepts(name, commitRedemptions),
  ]);
  expect(table).toEqual([
    [true, false],
    [true, true],
    [false, false],
  ]);
});

test("a caller has no access to projects that its token does not list", () => {
  const claims = { name: "validation", internal: true, scopes: [], projects: ["proj_a"] };
  expect(() =>
    authorizeInternal(commitRedemptions, claims, { projectId: "proj_b", callers }),
  ).toThrow("Forbidden");
});
