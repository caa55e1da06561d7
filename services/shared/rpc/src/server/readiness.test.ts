import { expect, test } from "vitest";

import { serveVouchers } from "../../test/voucher-server.ts";
import { generateServiceKey } from "../auth/service-token.ts";
import { createServiceTransport } from "../transport/grpc-transport.ts";
import { checkHealth } from "./health.ts";
import { sharedCheck, type UnreadyReason } from "./readiness.ts";

test("concurrent and repeated probes share one check", async () => {
  let runs = 0;
  const check = sharedCheck(
    async () => {
      runs += 1;
      return "ready";
    },
    { timeoutMs: 10_000, onTimeout: "timeout" },
  );
  const results = await Promise.all(Array.from({ length: 100 }, check));
  results.push(await check());
  expect([runs, new Set(results)]).toEqual([1, new Set(["ready"])]);
});

test("a check that hangs is reported as timeout, runs once, and counts when it ends", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let runs = 0;
  const check = sharedCheck(
    () => {
      runs += 1;
      return promise;
    },
    { timeoutMs: 20, onTimeout: "timeout" },
  );
  expect(await check()).toBe("timeout");
  expect(await Promise.all([check(), check()])).toEqual(["timeout", "timeout"]);
  resolve("ready");
  await promise;
  expect([await check(), runs]).toEqual(["ready", 1]);
});

test("the health of a service in another process follows its readiness", async () => {
  let reason: UnreadyReason | undefined = "disk_full";
  const server = await serveVouchers({
    keys: await generateServiceKey(),
    ready: async () => reason,
  });
  const transport = createServiceTransport({
    baseUrl: server.url,
    audience: "voucher",
    token: async () => "none",
  });
  expect(await checkHealth(transport)).toBe("not_serving");
  reason = undefined;
  expect(await checkHealth(transport)).toBeUndefined();
  await server[Symbol.asyncDispose]();
  expect(await checkHealth(transport)).toBe("unreachable");
});
