import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CampaignChangedSchema } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { ListRedemptionsRequestSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { CAMPAIGNS_TOPIC, onCampaign } from "../src/events/on-campaign.ts";
import { routes } from "../src/routes.ts";
import { createCommit, committedRedemptions, stackOf, tierOf, voucherPart } from "./builders.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";
import { at, createNamedRedemptions } from "./named-redemptions.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const campaignEvent = (
  change: Omit<MessageInitShape<typeof CampaignChangedSchema>, "$typeName">,
): DeliveredEvent => ({
  id: newId("event"),
  topic: CAMPAIGNS_TOPIC,
  key: "camp_tiers",
  projectId: service.projectId,
  type: CampaignChangedSchema.typeName,
  payload: toBinary(CampaignChangedSchema, create(CampaignChangedSchema, change)),
  headers: {},
  occurredAt: new Date(NOON),
  partition: 0,
  offset: 0n,
});

const DELIVERY = {
  group: "voucher-campaigns",
  topic: CAMPAIGNS_TOPIC,
  signal: new AbortController().signal,
};

const TEN_PERCENT = { type: DiscountType.PERCENT, percentOff: "10" };

type Request = Omit<MessageInitShape<typeof ListRedemptionsRequestSchema>, "$typeName">;

const list = async (request: Request = {}) => {
  const { redemptions, total } = await service.redemptions.listRedemptions(
    { limit: 100n, ...request },
    service.call(),
  );
  return { names: redemptions.map(({ id }) => nameOf(id)), total, redemptions };
};

const { code, idOf, nameOf } = await createNamedRedemptions(service);

describe("ListRedemptions", () => {
  test("lists single redemptions, parents, their parts, failures and rollbacks, newest first", async () => {
    const { names: shown, total, redemptions } = await list();
    expect(shown).toEqual(["rollback", "failed", "parent", "part 2", "part 1", "single"]);
    expect(total).toBe(6n);
    expect(redemptions[0]).toMatchObject({
      object: "redemption_rollback",
      redemption: idOf("single"),
      reason: "returned",
    });
    expect(redemptions[2]?.relatedRedemptions?.redemptions.map(({ id }) => id)).toEqual([
      idOf("part 1"),
      idOf("part 2"),
    ]);
    expect(redemptions[5]?.relatedRedemptions?.rollbacks).toMatchObject([{ id: idOf("rollback") }]);
    for (const [index, redemption] of redemptions.entries()) {
      expect(
        await service.redemptions.getRedemption({ redemptionId: redemption.id }, service.call()),
      ).toEqual(redemptions[index]);
    }
  });

  test.each<[string, Request, string[]]>([
    ["a page", { limit: 2n, page: 2n }, ["parent", "part 2"]],
    ["a page past the end", { limit: 5n, page: 3n }, []],
    ["the oldest first", { order: "created_at", limit: 2n }, ["single", "part 1"]],
    ["a customer's", { customer: "cust_1" }, ["rollback", "failed", "single"]],
    ["a campaign's", { campaign: "camp_1" }, ["part 1"]],
    ["a campaign's of tiers", { campaign: "camp_tiers" }, ["part 2"]],
    ["failures", { result: "Failure" }, ["failed"]],
    ["failures of a kind", { result: "Failure-quantity_exceeded" }, ["failed"]],
    ["failures of another kind", { result: "Failure-NotExist" }, []],
    ["successes", { result: "SUCCESS" }, ["rollback", "parent", "part 2", "part 1", "single"]],
    [
      "a time",
      { createdAt: { $typeName: "scrip.common.v1.TimeRange", after: at(1), before: at(3) } },
      ["parent", "part 2", "part 1"],
    ],
    [
      "filters",
      {
        filters: {
          result: { conditions: { $is: ["SUCCESS"] } },
          "metadata.shop": { conditions: { $is: ["north"] } },
        },
      },
      ["rollback", "single"],
    ],
    [
      "a tier",
      { filters: { promotion_tier_id: { conditions: { $is: ["promo_1"] } } } },
      ["part 2"],
    ],
  ])("shows %s", async (_name, request, expected) => {
    expect((await list(request)).names).toEqual(expected);
  });

  test.each(["id", "voucher_code", "tracking_id", "customer_id"] as const)(
    "orders by %s, redemptions without it last",
    async (order) => {
      const field = (redemption: Awaited<ReturnType<typeof list>>["redemptions"][number]) => ({
        id: redemption.id,
        voucher_code: redemption.voucher?.code,
        tracking_id: redemption.trackingId,
        customer_id: redemption.customerId,
      });
      const ascending = (await list({ order })).redemptions.map((one) => field(one)[order]);
      const descending = (await list({ order: `-${order}` })).redemptions.map(
        (one) => field(one)[order],
      );
      const known = ascending.filter((value) => value !== undefined);
      const rest = ascending.slice(known.length);
      expect(known).toEqual(known.toSorted());
      expect(rest.every((value) => value === undefined)).toBe(true);
      expect(descending).toEqual([...known.toReversed(), ...rest]);
    },
  );

  test("finds redemptions of tiers by the name of their promotion, whose event may be repeated", async () => {
    const change = {
      projectId: service.projectId,
      campaignId: "camp_tiers",
      name: "Happy hour",
      campaignType: "PROMOTION",
    };
    const named = async (field: string) =>
      (await list({ filters: { [field]: { conditions: { $is: ["Happy hour"] } } } })).names;
    expect(await named("campaign_name")).toEqual([]);
    await onCampaign(service.db)([campaignEvent(change), campaignEvent(change)], DELIVERY);
    expect(await named("campaign_name")).toEqual(["part 2"]);
    expect(await named("campaign")).toEqual(["part 2"]);
    expect((await list({ campaign: "Happy hour" })).names).toEqual(["part 2"]);
  });

  test("filters by the parent redemption and by the object", async () => {
    const filter = async (field: string, value: string) =>
      (await list({ filters: { [field]: { conditions: { $is: [value] } } } })).names;
    expect(await filter("parent_redemption_id", idOf("parent"))).toEqual(["part 2", "part 1"]);
    expect(await filter("parent_redemption_id", idOf("single"))).toEqual([]);
    expect(await filter("object", "redemption_rollback")).toEqual(["rollback"]);
    expect(await filter("object", "redemption")).toHaveLength(5);
  });

  test("filters by the code of a voucher", async () => {
    const filters = { voucher_code: { conditions: { $is: [code] } } };
    expect((await list({ filters })).names).toEqual(["rollback", "failed", "part 1", "single"]);
  });

  test.each<[string, Request, string]>([
    ["a page beyond the last", { page: 1001n }, "page_over_limit"],
    ["a result that is none", { result: "Perhaps" }, "invalid_query_params"],
    [
      "an unknown filter",
      { filters: { nope: { conditions: { $is: [1] } } } },
      "invalid_query_params",
    ],
  ])("rejects %s", async (_name, request, key) => {
    await expect(list(request)).rejects.toMatchObject({ key });
  });

  test("lists nothing of another project", async () => {
    const { total } = await service.redemptions.listRedemptions(
      {},
      service.call({ id: "proj_stranger" }),
    );
    expect(total).toBe(0n);
  });
});

test("lists redemptions of the newest of the campaigns that have had a name", async () => {
  await using shop = await startTestService();
  const client = clientOf(CampaignVoucherService, createDirectTransport(routes(depsOf(shop.db))));
  const redeem = async (part: ReturnType<typeof voucherPart> | ReturnType<typeof tierOf>) =>
    committedRedemptions((await createCommit(shop)(stackOf(shop, [part])))[0]).map(({ id }) => id);
  const redeemCodeOf = async (id: string) => {
    const campaign = { id, name: "Spring", campaignType: "DISCOUNT_COUPONS", vouchersCount: 0n };
    const voucher = { type: VoucherType.DISCOUNT_VOUCHER, discount: TEN_PERCENT };
    const { outcomes } = await client.createVouchers(
      { campaign, items: [{ voucher }] },
      shop.call(),
    );
    const [created] = outcomes;
    if (created?.outcome.case !== "voucher") throw new Error("no voucher");
    return redeem(voucherPart(created.outcome.value, { campaignId: id }));
  };
  const listed = async () => {
    const { redemptions } = await shop.redemptions.listRedemptions(
      { campaign: "Spring" },
      shop.call(),
    );
    return redemptions.map(({ id }) => id);
  };

  const oldest = await redeemCodeOf("camp_1");
  expect(await listed()).toEqual(oldest);
  const next = await redeemCodeOf("camp_2");
  expect(await listed()).toEqual(next);
  const promotion = {
    projectId: shop.projectId,
    campaignId: "camp_3",
    name: "Spring",
    campaignType: "PROMOTION",
  };
  await onCampaign(shop.db)([campaignEvent(promotion)], DELIVERY);
  const ofTier = await redeem(tierOf("promo_1", "camp_3"));
  expect(await listed()).toEqual(ofTier);
  const newest = await redeemCodeOf("camp_4");
  expect(await listed()).toEqual(newest);
});

test("ListVoucherRedemptions lists the parts of stacks", async () => {
  const { redemptionEntries, total } = await service.redemptions.listVoucherRedemptions(
    { code },
    service.call(),
  );
  expect(redemptionEntries.map(({ id }) => nameOf(id))).toEqual(["failed", "part 1", "single"]);
  expect(total).toBe(3n);
  const page = await service.redemptions.listVoucherRedemptions(
    { code, limit: 1n, page: 2n },
    service.call(),
  );
  expect(page.redemptionEntries.map(({ id }) => nameOf(id))).toEqual(["part 1"]);
  const inRange = await service.redemptions.listVoucherRedemptions(
    { code, limit: 1n, createdAt: { after: at(1), before: at(3) } },
    service.call(),
  );
  expect(inRange.redemptionEntries.map(({ id }) => nameOf(id))).toEqual(["part 1"]);
  expect(inRange.total).toBe(1n);
});
