import { fromBinary } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import { CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { LoyaltyProgramChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";
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

  test("announce a loyalty program with its state, like its creation and its update", async () => {
    const call = newCall();
    const rules = { period_type: "MONTH", period_value: 3 };
    const { id } = await campaigns.createCampaign(
      {
        name: "club",
        campaignType: CampaignType.LOYALTY_PROGRAM,
        voucher: { loyaltyCard: { points: 7n, expirationRules: rules } },
      },
      call,
    );
    await newCoupons(service, call, { name: "coupons" });
    await campaigns.disableCampaign({ campaignId: id }, call);
    await campaigns.disableCampaign({ campaignId: id }, call);
    const { rows } = await service.db.query<{ key: string; topic: string; payload: Uint8Array }>(
      `select key, topic, payload from outbox
        where project_id = $1 and type = $2
        order by created_at, id`,
      [call.project.id, LoyaltyProgramChangedSchema.typeName],
    );
    const events = rows.map(({ key, topic, payload }) => ({
      key,
      topic,
      ...fromBinary(LoyaltyProgramChangedSchema, payload),
    }));
    const state = { topic: "scrip.campaigns.v1", key: id, name: "club", expirationRules: rules };
    expect(events).toMatchObject([
      { ...state, active: true, initialPoints: 7n },
      { ...state, active: false, initialPoints: 7n },
    ]);
  });

  test("reject an unknown campaign", async () => {
    const call = newCall();
    const request = { campaignId: "camp_unknown" };
    expect(await rejectionKey(campaigns.enableCampaign(request, call))).toBe("not_found");
    expect(await rejectionKey(campaigns.disableCampaign(request, call))).toBe("not_found");
  });
});
