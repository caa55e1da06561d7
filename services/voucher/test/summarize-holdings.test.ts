import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { createGiftVoucher } from "./builders.ts";
import { depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(service.db)));
const campaigns = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);
const { projectId } = service;

const holdingsOf = async (...customerIds: string[]) => {
  const queries = customerIds.map((customerId) => ({ projectId, customerId }));
  return (await publications.summarizeHoldings({ queries }, service.call())).results;
};
const publishGift = async (customerId: string, amount: bigint) => {
  const gift = await createGiftVoucher(service, amount);
  await publications.createPublication(
    { customer: { id: customerId }, voucher: gift.code },
    service.call(),
  );
  return gift;
};

describe("SummarizeHoldings", () => {
  test("adds up the gift credits and the points that each customer holds", async () => {
    await campaigns.createVouchers(
      {
        campaign: { id: "camp_1", name: "Club", campaignType: "LOYALTY_PROGRAM" },
        items: [{ voucher: { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 70n } } }],
      },
      service.call(),
    );
    await publishGift("cust_1", 300n);
    await publishGift("cust_1", 200n);
    await publishGift("cust_2", 50n);
    await createGiftVoucher(service, 1_000n);
    const customer = { id: "cust_1" };
    await publications.createMember({ campaignId: "camp_1", customer }, service.call());
    expect(await holdingsOf("cust_1", "cust_2", "cust_unknown")).toMatchObject([
      { giftBalance: 500n, campaigns: [{ campaignId: "camp_1", name: "Club", points: 70n }] },
      { giftBalance: 50n, campaigns: [] },
      { giftBalance: 0n, redeemedPoints: 0n, campaigns: [] },
    ]);
  });

  test("leaves out deleted vouchers", async () => {
    const { code } = await publishGift("cust_3", 300n);
    await service.vouchers.deleteVoucher({ code }, service.call());
    expect(await holdingsOf("cust_3")).toMatchObject([{ giftBalance: 0n }]);
  });
});
