import { newId } from "@scrip/ids";
import type { Caller } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { BRONZE } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { earningRules, tiers } = loyalty;

const RULE = { event: "viewed", loyalty: { type: "FIXED", points: 1n } };

const SERVICE: Caller = { side: "service", id: "billing" };
const SERVER: Caller = { side: "server", id: "app_test" };

// The gateway has found the campaign, whose event is then late; services name what they like.
test.each([
  [SERVICE, "not_found"],
  [SERVER, "service_unavailable"],
])("a program that never arrives is rejected for %j with %s", async (caller, key) => {
  const campaignId = newId("camp");
  const call = newCall({ caller });
  const created = await Promise.allSettled([
    tiers.createLoyaltyTiers({ campaignId, tiers: [BRONZE] }, call),
    earningRules.createEarningRules({ campaignId, rules: [RULE] }, call),
  ]);
  expect(created).toMatchObject([
    { status: "rejected", reason: { key } },
    { status: "rejected", reason: { key } },
  ]);
});
