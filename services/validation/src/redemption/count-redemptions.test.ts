import { ApiError } from "@scrip/errors";
import type { Call } from "@scrip/rpc";
import { createMetrics } from "@scrip/telemetry";
import { expect, test } from "vitest";

import { createRedemptionCounter } from "./count-redemptions.ts";

test("counts redemptions by outcome, and those of repeated requests as replayed", async () => {
  const metrics = createMetrics({ withProcess: false });
  const count = createRedemptionCounter(metrics);
  let replays = 0;
  const onReplay = (): number => (replays += 1);
  const call = { onReplay } as Partial<Call> as Call;
  const thrown = (error: Error, isReplayed = false) =>
    count(call, async ({ onReplay: replay }) => {
      if (isReplayed) replay?.();
      throw error;
    });
  expect(await count(call, async () => "redeemed")).toBe("redeemed");
  await count(call, async ({ onReplay: replay }) => replay?.());
  const rejection = new ApiError("quantity_exceeded");
  await expect(thrown(rejection)).rejects.toBe(rejection);
  await expect(thrown(rejection, true)).rejects.toBe(rejection);
  await expect(thrown(new ApiError("service_unavailable"))).rejects.toThrow(ApiError);
  await expect(thrown(new TypeError("a bug"))).rejects.toThrow("a bug");
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("redemptions"));
  expect(lines).toEqual([
    'redemptions_total{outcome="succeeded"} 1',
    'redemptions_total{outcome="rejected"} 1',
    'redemptions_total{outcome="replayed"} 2',
    'redemptions_total{outcome="failed"} 2',
  ]);
  expect(replays).toBe(2);
});
