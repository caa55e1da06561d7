import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { onRedemption, REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { deliver, eventOf } from "./builders.ts";
import { givenProject, startFixture } from "./deps.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const { campaigns, promotions } = fixture;
const handle = (events: readonly DeliveredEvent[]) => deliver(onRedemption(fixture.db), events);

const HUNDRED = { orderAmount: 10_000n, discountedAmount: 1_000n };
const FIFTY = { orderAmount: 5_000n, discountedAmount: 500n };

describe("what a tier did", () => {
  test.each<{
    readonly name: string;
    readonly batches: (tier: Tier) => readonly (readonly DeliveredEvent[])[];
    readonly counted: readonly [redemptions: bigint, amount: bigint, discount: bigint];
  }>([
    { name: "nothing", batches: () => [], counted: [0n, 0n, 0n] },
    {
      name: "redemptions in one batch",
      batches: ({ made }) => [[made(HUNDRED), made(FIFTY)]],
      counted: [2n, 15_000n, 1_500n],
    },
    {
      name: "redemptions in several batches",
      batches: ({ made }) => [[made(HUNDRED)], [made(FIFTY)], [made({})]],
      counted: [3n, 15_000n, 1_500n],
    },
    {
      name: "a rollback in the batch of its redemption",
      batches: ({ made, back }) => [[made(HUNDRED), made(FIFTY), back(HUNDRED)]],
      counted: [1n, 5_000n, 500n],
    },
    {
      name: "a rollback in a batch of its own",
      batches: ({ made, back }) => [[made(HUNDRED), made(FIFTY)], [back(FIFTY)]],
      counted: [1n, 10_000n, 1_000n],
    },
    {
      name: "a rollback before its redemption, which was among the dead letters",
      batches: ({ made, back }) => [[back(HUNDRED)], [made(FIFTY)], [made(HUNDRED)]],
      counted: [1n, 5_000n, 500n],
    },
    {
      name: "a rollback of what nothing counted",
      batches: ({ back }) => [[back(HUNDRED)]],
      counted: [0n, 0n, 0n],
    },
    {
      name: "a rollback that was refused, and a redemption that was",
      batches: ({ made, back, failed }) => [
        [made(HUNDRED), back({ ...HUNDRED, rejected: true }), failed()],
      ],
      counted: [1n, 10_000n, 1_000n],
    },
  ])("$name, each event delivered twice", async ({ batches, counted }) => {
    const tier = await givenTier(givenProject());
    const delivered = batches(tier);
    for (const batch of delivered) await handle([...batch, ...batch]);
    await handle(delivered.flat());
    for (const event of delivered.flat().toReversed()) await handle([event]);
    expect(await tier.did()).toEqual(counted);
  });

  test("is told wherever the tier is answered", async () => {
    const call = givenProject();
    const { id, campaignId, made } = await givenTier(call);
    await givenTier(call);
    await handle([made(HUNDRED)]);
    const told = {
      redemptions: { totalRedeemed: 1n },
      orders: { totalAmount: 10_000n, totalDiscountAmount: 1_000n },
    };
    const list = await promotions.listPromotionTiers({}, call);
    expect(list.tiers.find((tier) => tier.id === id)?.summary).toMatchObject(told);
    expect(list.tiers).toHaveLength(2);
    expect((await promotions.listCampaignTiers({ campaignId }, call)).tiers).toMatchObject([
      { id, summary: told },
    ]);
    expect(await campaigns.getCampaign({ campaignId }, call)).toMatchObject({
      promotion: { tiers: [{ id, summary: told }] },
    });
    for (const answer of [
      await promotions.getPromotionTier({ tierId: id }, call),
      await promotions.disablePromotionTier({ tierId: id }, call),
      await promotions.enablePromotionTier({ tierId: id }, call),
      await promotions.enablePromotionTier({ tierId: id }, call),
    ]) {
      expect(answer.summary).toMatchObject(told);
    }
    // What decisions read does not change with each redemption.
    const { results: answers } = await campaigns.resolveCampaigns(
      { queries: [{ projectId: call.project.id, tierIds: [id] }] },
      call,
    );
    expect(answers[0]?.tiers.map((tier) => [tier.id, tier.summary])).toEqual([[id, undefined]]);
  });

  test("is lost by no handler that meets the same tiers at once", async () => {
    const call = givenProject();
    const tiers = [await givenTier(call), await givenTier(call), await givenTier(givenProject())];
    const batches = Array.from({ length: 12 }, (_, index) => {
      const events = tiers.map(({ made }) => made(FIFTY));
      return index % 2 === 0 ? events : events.toReversed();
    });
    await Promise.all([...batches, ...batches].map((batch) => handle(batch)));
    for (const tier of tiers) expect(await tier.did()).toEqual([12n, 60_000n, 6_000n]);
  });

  test("goes with the tier, and an event that comes late does not bring it back", async () => {
    const call = givenProject();
    const gone = await givenTier(call);
    const kept = await givenTier(call);
    await handle([gone.made(HUNDRED)]);
    await promotions.deletePromotionTier({ tierId: gone.id }, call);
    await handle([gone.made(HUNDRED), kept.made(HUNDRED)]);
    const { rows } = await fixture.db.query(
      "select tier_id, redemptions from promotion_tier_usage where project_id = $1",
      [call.project.id],
    );
    expect(rows).toEqual([{ tier_id: kept.id, redemptions: 1n }]);
  });

  test("takes nothing from what vouchers did", async () => {
    const { project } = givenProject();
    const about = { projectId: project.id, topic: REDEMPTIONS_TOPIC, key: "v_1" };
    const facts = { projectId: project.id, voucherId: "v_1", ...HUNDRED };
    await handle([
      eventOf(RedemptionMadeSchema, about, facts),
      eventOf(RedemptionRolledBackSchema, about, facts),
    ]);
    const { rows } = await fixture.db.query("select 1 from inbox where project_id = $1", [
      project.id,
    ]);
    expect(rows).toEqual([]);
  });
});

type Tier = Awaited<ReturnType<typeof givenTier>>;
type Made = Omit<MessageInitShape<typeof RedemptionMadeSchema>, "$typeName" | "$unknown">;
type RolledBack = Omit<
  MessageInitShape<typeof RedemptionRolledBackSchema>,
  "$typeName" | "$unknown"
>;

async function givenTier(call: Call) {
  const projectId = call.project.id;
  const action = { discount: { type: DiscountType.PERCENT, percentOff: "10" } };
  const { id: campaignId } = await campaigns.createCampaign(
    { name: newId("camp"), campaignType: CampaignType.PROMOTION },
    call,
  );
  const { id } = await promotions.createPromotionTier({ campaignId, name: "tier", action }, call);
  const about = { projectId, topic: REDEMPTIONS_TOPIC, key: id };
  const facts = { projectId, promotionTierId: id };
  return {
    id,
    campaignId,
    made: (said: Made) => eventOf(RedemptionMadeSchema, about, { ...facts, ...said }),
    back: (said: RolledBack) => eventOf(RedemptionRolledBackSchema, about, { ...facts, ...said }),
    failed: () => eventOf(RedemptionFailedSchema, about, { ...facts, customerId: "cust_1" }),
    did: async () => {
      const { summary } = await promotions.getPromotionTier({ tierId: id }, call);
      return [
        summary?.redemptions?.totalRedeemed,
        summary?.orders?.totalAmount,
        summary?.orders?.totalDiscountAmount,
      ];
    },
  };
}
