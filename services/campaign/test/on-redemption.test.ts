import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeliveredEvent } from "@scrip/events";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { deliver, newCall, newEvent, newPromotion, newTier } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, db, promotions } = service;
const handle = (events: readonly DeliveredEvent[]) => deliver(onRedemption(db), events);

const HUNDRED = { orderAmount: 10_000n, discountedAmount: 1_000n };
const FIFTY = { orderAmount: 5_000n, discountedAmount: 500n };

describe("onRedemption", () => {
  test.each<{
    readonly name: string;
    readonly batches: (tier: Tier) => readonly (readonly DeliveredEvent[])[];
    readonly usage: readonly [redemptions: bigint, amount: bigint, discount: bigint];
  }>([
    { name: "no redemption", batches: () => [], usage: [0n, 0n, 0n] },
    {
      name: "redemptions in one batch",
      batches: ({ redeemed }) => [[redeemed(HUNDRED), redeemed(FIFTY)]],
      usage: [2n, 15_000n, 1_500n],
    },
    {
      name: "redemptions in several batches",
      batches: ({ redeemed }) => [[redeemed(HUNDRED)], [redeemed(FIFTY)], [redeemed({})]],
      usage: [3n, 15_000n, 1_500n],
    },
    {
      name: "a rollback in the batch of its redemption",
      batches: ({ redeemed, rolledBack }) => [
        [redeemed(HUNDRED), redeemed(FIFTY), rolledBack(HUNDRED)],
      ],
      usage: [1n, 5_000n, 500n],
    },
    {
      name: "a rollback in a batch of its own",
      batches: ({ redeemed, rolledBack }) => [
        [redeemed(HUNDRED), redeemed(FIFTY)],
        [rolledBack(FIFTY)],
      ],
      usage: [1n, 10_000n, 1_000n],
    },
    {
      name: "a rollback before its redemption, which was a dead letter",
      batches: ({ redeemed, rolledBack }) => [
        [rolledBack(HUNDRED)],
        [redeemed(FIFTY)],
        [redeemed(HUNDRED)],
      ],
      usage: [1n, 5_000n, 500n],
    },
    {
      name: "a rollback without a counted redemption",
      batches: ({ rolledBack }) => [[rolledBack(HUNDRED)]],
      usage: [0n, 0n, 0n],
    },
    {
      name: "a rejected rollback and a failed redemption",
      batches: ({ redeemed, rolledBack, failed }) => [
        [redeemed(HUNDRED), rolledBack({ ...HUNDRED, rejected: true }), failed()],
      ],
      usage: [1n, 10_000n, 1_000n],
    },
  ])("counts $name once when each event is delivered twice", async ({ batches, usage }) => {
    const tier = await newTierWithEvents(newCall());
    const delivered = batches(tier);
    for (const batch of delivered) await handle([...batch, ...batch]);
    await handle(delivered.flat());
    for (const event of delivered.flat().toReversed()) await handle([event]);
    expect(await tier.usage()).toEqual(usage);
  });

  test("shows the usage wherever a tier is returned, but not in definitions", async () => {
    const call = newCall();
    const { id, campaignId, redeemed } = await newTierWithEvents(call);
    await newTierWithEvents(call);
    await handle([redeemed(HUNDRED)]);
    const summary = {
      redemptions: { totalRedeemed: 1n },
      orders: { totalAmount: 10_000n, totalDiscountAmount: 1_000n },
    };
    const list = await promotions.listPromotionTiers({}, call);
    expect(list.tiers.find((tier) => tier.id === id)?.summary).toMatchObject(summary);
    expect(list.tiers).toHaveLength(2);
    expect((await promotions.listCampaignTiers({ campaignId }, call)).tiers).toMatchObject([
      { id, summary },
    ]);
    expect(await campaigns.getCampaign({ campaignId }, call)).toMatchObject({
      promotion: { tiers: [{ id, summary }] },
    });
    for (const tier of [
      await promotions.getPromotionTier({ tierId: id }, call),
      await promotions.disablePromotionTier({ tierId: id }, call),
      await promotions.enablePromotionTier({ tierId: id }, call),
      await promotions.enablePromotionTier({ tierId: id }, call),
    ]) {
      expect(tier.summary).toMatchObject(summary);
    }
    // Definitions are cached, so they do not include counts.
    const { results } = await campaigns.resolveCampaigns(
      { queries: [{ projectId: call.project.id, tierIds: [id] }] },
      call,
    );
    expect(results[0]?.tiers.map((tier) => [tier.id, tier.summary])).toEqual([[id, undefined]]);
  });

  test("loses no count when handlers update the same tiers concurrently", async () => {
    const call = newCall();
    const tiers = [
      await newTierWithEvents(call),
      await newTierWithEvents(call),
      await newTierWithEvents(newCall()),
    ];
    const batches = Array.from({ length: 12 }, (_, index) => {
      const events = tiers.map(({ redeemed }) => redeemed(FIFTY));
      return index % 2 === 0 ? events : events.toReversed();
    });
    await Promise.all([...batches, ...batches].map((batch) => handle(batch)));
    for (const tier of tiers) expect(await tier.usage()).toEqual([12n, 60_000n, 6_000n]);
  });

  test("deletes the usage with the tier, and a late event does not restore it", async () => {
    const call = newCall();
    const deleted = await newTierWithEvents(call);
    const other = await newTierWithEvents(call);
    await handle([deleted.redeemed(HUNDRED)]);
    await promotions.deletePromotionTier({ tierId: deleted.id }, call);
    await handle([deleted.redeemed(HUNDRED), other.redeemed(HUNDRED)]);
    const { rows } = await db.query(
      "select tier_id, redemptions from promotion_tier_usage where project_id = $1",
      [call.project.id],
    );
    expect(rows).toEqual([{ tier_id: other.id, redemptions: 1n }]);
  });

  test("skips events of vouchers", async () => {
    const { project } = newCall();
    const about = { projectId: project.id, topic: REDEMPTIONS_TOPIC, key: "v_1" };
    const ids = { projectId: project.id, voucherId: "v_1", ...HUNDRED };
    await handle([
      newEvent(RedemptionMadeSchema, about, ids),
      newEvent(RedemptionRolledBackSchema, about, ids),
    ]);
    const { rows } = await db.query("select 1 from inbox where project_id = $1", [project.id]);
    expect(rows).toEqual([]);
  });
});

type Tier = Awaited<ReturnType<typeof newTierWithEvents>>;
type Redeemed = Omit<MessageInitShape<typeof RedemptionMadeSchema>, "$typeName" | "$unknown">;
type RolledBack = Omit<
  MessageInitShape<typeof RedemptionRolledBackSchema>,
  "$typeName" | "$unknown"
>;

async function newTierWithEvents(call: Call) {
  const projectId = call.project.id;
  const { id: campaignId } = await newPromotion(service, call);
  const { id } = await newTier(service, call, { campaignId });
  const about = { projectId, topic: REDEMPTIONS_TOPIC, key: id };
  const ids = { projectId, promotionTierId: id };
  return {
    id,
    campaignId,
    redeemed: (payload: Redeemed) => newEvent(RedemptionMadeSchema, about, { ...ids, ...payload }),
    rolledBack: (payload: RolledBack) =>
      newEvent(RedemptionRolledBackSchema, about, { ...ids, ...payload }),
    failed: () => newEvent(RedemptionFailedSchema, about, { ...ids, customerId: "cust_1" }),
    usage: async () => {
      const { summary } = await promotions.getPromotionTier({ tierId: id }, call);
      return [
        summary?.redemptions?.totalRedeemed,
        summary?.orders?.totalAmount,
        summary?.orders?.totalDiscountAmount,
      ];
    },
  };
}
