import { instantToProto } from "@scrip/mapping";
import type { CampaignQuerySchema } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CampaignKind, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import {
  idsOf,
  type Init,
  newCall,
  newCoupons,
  newPromotion,
  newStack,
  newTier,
  NOON,
  TEN_PERCENT,
} from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, categories, promotions } = service;

async function resolve(
  call: Call,
  query: Omit<Init<typeof CampaignQuerySchema>, "projectId">,
  client = campaigns,
) {
  const queries = [{ ...query, projectId: call.project.id }];
  const { results } = await client.resolveCampaigns({ queries }, call);
  const [result] = results;
  if (result === undefined) throw new Error("there is one result per query");
  return result;
}

describe("ResolveCampaigns", () => {
  test("returns the requested objects of each query of a batch, and the objects that these refer to", async () => {
    const call = newCall();
    const other = newCall();
    const category = await categories.createCategory({ name: "C", hierarchy: 3n }, call);
    const promotion = await newPromotion(service, call, {
      categoryId: category.id,
      startDate: instantToProto(NOON),
      metadata: { a: 1 },
    });
    const second = await newPromotion(service, call);
    const [a, b] = [
      await newTier(service, call, { campaignId: promotion.id }),
      await newTier(service, call, { campaignId: second.id }),
    ];
    const stack = await promotions.createPromotionStack(
      { campaignId: second.id, name: "stack", tiers: { ids: [b.id, a.id] } },
      call,
    );
    const projectId = call.project.id;
    const { results } = await campaigns.resolveCampaigns(
      {
        queries: [
          {
            projectId,
            campaignIds: [promotion.id, "camp_unknown"],
            tierIds: ["promo_unknown"],
          },
          { projectId, campaignNames: [second.name, "unknown"] },
          { projectId, tierIds: [a.id] },
          { projectId, stackIds: [stack.id] },
          { projectId: other.project.id, campaignIds: [promotion.id], tierIds: [a.id] },
        ],
      },
      call,
    );
    expect(
      results.map((result) => ({
        campaigns: idsOf(result.campaigns),
        tiers: idsOf(result.tiers),
        stacks: idsOf(result.stacks),
      })),
    ).toEqual([
      { campaigns: [promotion.id], tiers: [], stacks: [] },
      { campaigns: [second.id], tiers: [], stacks: [] },
      { campaigns: [promotion.id], tiers: [a.id], stacks: [] },
      {
        campaigns: idsOf([promotion, second]),
        tiers: idsOf([a, b]),
        stacks: [stack.id],
      },
      { campaigns: [], tiers: [], stacks: [] },
    ]);
    expect(results[0]?.campaigns[0]).toMatchObject({
      name: promotion.name,
      campaignType: CampaignType.PROMOTION,
      active: true,
      startDate: instantToProto(NOON),
      categoryId: category.id,
      categories: [{ id: category.id, name: "C", hierarchy: 3n }],
      metadata: { a: 1 },
      joinOnce: false,
      protected: false,
    });
    expect(results[2]?.tiers[0]).toEqual({ ...a, summary: undefined });
    expect(results[3]?.stacks[0]).toEqual(stack);
  });

  test("returns all active tiers and stacks of active campaigns, regardless of their dates", async () => {
    const call = newCall();
    const active = await newPromotion(service, call);
    const inactive = await newPromotion(service, call);
    const tier = await newTier(service, call, { campaignId: active.id });
    const expired = await newTier(service, call, {
      campaignId: active.id,
      expirationDate: instantToProto(NOON - 1),
    });
    await newTier(service, call, { campaignId: active.id, active: false });
    const hidden = await newTier(service, call, { campaignId: inactive.id });
    const stack = await newStack(service, call, { campaignId: active.id, ids: [tier.id] });
    await newStack(service, call, { campaignId: inactive.id, ids: [tier.id] });
    await campaigns.disableCampaign({ campaignId: inactive.id }, call);

    const tiers = await resolve(call, { allActiveTiers: true });
    expect(idsOf(tiers.tiers)).toEqual(idsOf([tier, expired]));
    expect(tiers.stacks).toEqual([]);
    const stacks = await resolve(call, { allActiveStacks: true });
    expect(idsOf(stacks.stacks)).toEqual([stack.id]);
    await campaigns.enableCampaign({ campaignId: inactive.id }, call);
    expect(idsOf((await resolve(call, { allActiveTiers: true })).tiers)).toContain(hidden.id);
  });

  test("shows a write immediately in the same process and soon in another", async () => {
    const call = newCall();
    const category = await categories.createCategory({ name: "C", hierarchy: 3n }, call);
    const promotion = await newPromotion(service, call, { categoryId: category.id });
    const tier = await newTier(service, call, { campaignId: promotion.id });
    const replica = service.replica();
    const query = { tierIds: [tier.id] };
    const { tiers: cached } = await resolve(call, query, replica.campaigns);
    expect(cached).toEqual([{ ...tier, summary: undefined }]);

    const current = async () => {
      const { campaigns: resolved, tiers } = await resolve(call, query);
      return [resolved[0]?.active, resolved[0]?.categories[0]?.hierarchy, tiers[0]?.name];
    };
    await campaigns.disableCampaign({ campaignId: promotion.id }, call);
    expect(await current()).toEqual([false, 3n, tier.name]);
    await categories.updateCategory({ categoryId: category.id, name: "C", hierarchy: 7n }, call);
    expect(await current()).toEqual([false, 7n, tier.name]);
    await promotions.updatePromotionTier(
      { tierId: tier.id, name: "changed", updateMask: { paths: ["name"] } },
      call,
    );
    expect(await current()).toEqual([false, 7n, "changed"]);
    await promotions.deletePromotionTier({ tierId: tier.id }, call);
    expect((await resolve(call, query)).tiers).toEqual([]);
    await expect
      .poll(async () => (await resolve(call, query, replica.campaigns)).tiers, { timeout: 60_000 })
      .toEqual([]);
  });

  test("returns the active STANDALONE campaigns", async () => {
    const call = newCall();
    const standalone = (code: string) =>
      newCoupons(service, call, {
        type: CampaignKind.STANDALONE,
        voucher: { discount: TEN_PERCENT, code },
      });
    const [active, inactive] = [await standalone("A"), await standalone("B")];
    await newCoupons(service, call);
    await campaigns.disableCampaign({ campaignId: inactive.id }, call);
    const resolved = await resolve(call, { allActiveStandalone: true });
    expect(idsOf(resolved.campaigns)).toEqual([active.id]);
  });
});
