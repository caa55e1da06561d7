import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(service.db)));
const campaigns = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);

const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n } };
await campaigns.createVouchers(
  {
    campaign: { id: "camp_1", name: "Program", campaignType: "LOYALTY_PROGRAM" },
    items: [{ voucher: card }, { voucher: card }],
  },
  service.call(),
);

const join = (customerId: string, campaignId = "camp_1") =>
  publications.createMember({ campaignId, customer: { id: customerId } }, service.call());

describe("CreateMember", () => {
  test("returns the existing card of a customer who already joined", async () => {
    const joined = await join("cust_1");
    const again = await join("cust_1");

    expect(joined).toMatchObject({ type: VoucherType.LOYALTY_CARD, holderId: "cust_1" });
    expect(again.id).toBe(joined.id);
  });

  test("rejects a customer when the program has no unpublished card", async () => {
    await join("cust_2");

    await expect(join("cust_3")).rejects.toMatchObject({
      key: "no_voucher_suitable_for_publication",
    });
  });

  test("returns not_found for an unknown program", async () => {
    await expect(join("cust_1", "camp_unknown")).rejects.toMatchObject({ key: "not_found" });
  });
});
