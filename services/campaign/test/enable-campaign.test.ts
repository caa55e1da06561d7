import { instantToProto } from "@scrip/mapping";
import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCoupons, NOON, rejectionKey } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns } = service;

describe("EnableCampaign and DisableCampaign", () => {
  test("switch a campaign by id or name, idempotently", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { name: "coupons" });
    const later = { ...call, now: NOON + 1000 };
    await campaigns.disableCampaign({ campaignId: "coupons" }, later);
    const disabled = await campaigns.getCampaign({ campaignId: id }, call);
    expect(disabled).toMatchObject({ active: false, updatedAt: instantToProto(NOON + 1000) });
    await campaigns.disableCampaign({ campaignId: id }, { ...call, now: NOON + 2000 });
    expect(await campaigns.getCampaign({ campaignId: id }, call)).toEqual(disabled);
    await campaigns.enableCampaign({ campaignId: id }, later);
    expect((await campaigns.getCampaign({ campaignId: id }, call)).active).toBe(true);
  });

  test("reject an unknown campaign", async () => {
    const call = newCall();
    const request = { campaignId: "camp_unknown" };
    expect(await rejectionKey(campaigns.enableCampaign(request, call))).toBe("not_found");
    expect(await rejectionKey(campaigns.disableCampaign(request, call))).toBe("not_found");
  });
});
