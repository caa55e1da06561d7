import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCoupons, rejectionKey } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, db } = service;

const update = (call: Call, campaignId: string) =>
  campaigns.updateCampaign(
    { campaignId, description: "x", updateMask: { paths: ["description"] } },
    call,
  );

describe("campaign lock", () => {
  const lockFor = (id: string, seconds: number) =>
    db.query(
      `update campaign set turn = 'gone', turn_ends_at = now() + make_interval(secs => $2)
        where id = $1`,
      [id, seconds],
    );

  test("rejects a change with service_unavailable before its deadline, and expires", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call);
    await lockFor(id, 60);
    const hurried = { ...call, deadline: Date.now() + 2_100 };
    expect(await rejectionKey(update(hurried, id))).toBe("service_unavailable");
    await lockFor(id, -1);
    expect(await update(call, id)).toMatchObject({ description: "x" });
  });

  test("does not delay reads, activation or deactivation", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call);
    await lockFor(id, 60);
    await campaigns.disableCampaign({ campaignId: id }, call);
    expect(await campaigns.getCampaign({ campaignId: id }, call)).toMatchObject({ active: false });
  });
});
