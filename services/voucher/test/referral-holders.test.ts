import { fromBinary } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  HolderAssignedSchema,
  HolderRemovedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { HolderRole, PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { ReferralService } from "@scrip/proto/scrip/voucher/v1/referrals_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { checkInvariants, depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(service.db)));
const campaigns = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);
const referrals = clientOf(ReferralService, transport);

await campaigns.createVouchers(
  {
    campaign: { id: "camp_1", name: "Program", campaignType: "REFERRAL_PROGRAM" },
    items: [
      {
        voucher: {
          type: VoucherType.DISCOUNT_VOUCHER,
          discount: { type: DiscountType.PERCENT, percentOff: "10" },
        },
      },
    ],
  },
  service.call(),
);
const { voucher } = await publications.createPublication(
  { customer: { id: "cust_referrer" }, campaign: { name: "Program" } },
  service.call(),
);
const code = { campaignId: "camp_1", memberId: voucher?.code ?? "" };

/** The messages of the outbox of one type, oldest first. */
const events = async (type: string): Promise<Uint8Array[]> => {
  const { rows } = await service.db.query<{ payload: Uint8Array }>(
    "select payload from outbox where type = $1 order by created_at, id",
    [type],
  );
  return rows.map(({ payload }) => payload);
};

test("assigning and removing a referee emits one event each, and rejected requests emit none", async () => {
  const { holders } = await referrals.createHolders(
    { ...code, holders: [{ id: "cust_1" }, { id: "cust_2" }] },
    service.call(),
  );
  for (const holder of ["cust_2", "cust_referrer"]) {
    await expect(
      referrals.createHolders(
        { ...code, holders: [{ id: "cust_3" }, { id: holder }] },
        service.call(),
      ),
    ).rejects.toMatchObject({ key: "holder_assignement_duplication" });
  }
  const [first, second] = holders;
  await referrals.deleteHolder({ ...code, holderId: second?.id ?? "" }, service.call());

  const assigned = await events(HolderAssignedSchema.typeName);
  expect(assigned.map((event) => fromBinary(HolderAssignedSchema, event))).toMatchObject([
    { customerId: "cust_1", holderId: first?.id, voucherId: voucher?.id, campaignId: "camp_1" },
    { customerId: "cust_2", holderId: second?.id },
  ]);
  const removed = await events(HolderRemovedSchema.typeName);
  expect(removed.map((event) => fromBinary(HolderRemovedSchema, event))).toMatchObject([
    { customerId: "cust_2", holderId: second?.id },
  ]);
  const { data, total } = await referrals.listHolders(code, service.call());
  expect(data.map(({ holderRole }) => holderRole)).toEqual([
    HolderRole.REFEREE,
    HolderRole.REFERRER,
  ]);
  expect(total).toBe(2n);
  await checkInvariants(service);
});
