import type { UnreadyReason } from "@scrip/rpc";
import { expect, test } from "vitest";

import { readinessOf } from "./readiness.ts";

type Failing = Readonly<Record<string, UnreadyReason>>;

const readiness = (failing: Failing, isDraining = false) => {
  const check = (name: string) => async () => failing[name];
  const dependencies = { voucher: check("voucher"), loyalty: check("loyalty") };
  return readinessOf({ service: { ready: check("gateway") }, dependencies }, () => isDraining)();
};

test.each<[string, Failing, string]>([
  ["without failures", {}, "ready"],
  ["while one service is away", { loyalty: "unreachable" }, "degraded"],
  ["while it reaches no service", { voucher: "timeout", loyalty: "unreachable" }, "not ready"],
  ["while its own database takes no writes", { gateway: "disk_full" }, "not ready"],
])("a gateway %s", async (_, failing, status) => {
  const failures = Object.entries(failing).map(([dependency, reason]) => ({ dependency, reason }));
  expect(await readiness(failing)).toEqual({ status, failures });
});

test("a gateway that shuts down is not ready", async () => {
  expect(await readiness({}, true)).toEqual({
    status: "not ready",
    failures: [{ dependency: "gateway", reason: "shutting_down" }],
  });
});
