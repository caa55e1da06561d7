import type { MessageInitShape } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  CampaignType,
  type CampaignQuerySchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { givenProject, NOON, startFixture } from "./deps.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const { campaigns, promotions, categories } = fixture;

type Query = Omit<MessageInitShape<typeof CampaignQuerySchema>, "$typeName" | "projectId">;

async function resolve(call: Call, query: Query, client = campaigns) {
  const queries = [{ ...query, projectId: call.project.id }];
  const { results: answers } = await client.resolveCampaigns({ queries }, call);
  const [answer] = answers;
  if (answer === undefined) throw new Error("not answered item by item");
  return answer;
}

const action = { discount: { type: DiscountType.PERCENT, percentOff: "10" } };
let named = 0;
const newName = (): string => `name ${(named += 1)}`;

const givenPromotion = (call: Call, more: object = {}) =>
  campaigns.createCampaign(
    { name: newName(), campaignType: CampaignType.PROMOTION, ...more },
    call,
  );
const givenTier = (call: Call, campaignId: string, more: object = {}) =>
  promotions.createPromotionTier({ campaignId, name: newName(), action, ...more }, call);

const idsOf = (items: readonly { readonly id: string }[]): string[] =>
  items.map(({ id }) => id).toSorted();

test("a batch answers each query what it names, and what that refers to", async () => {
  const call = givenProject();
  const other = givenProject();
  const category = await categories.createCategory({ name: "C", hierarchy: 3n }, call);
  const promotion = await givenPromotion(call, {
    categoryId: category.id,
    startDate: instantToProto(NOON),
    metadata: { a: 1 },
  });
  const second = await givenPromotion(call);
  const [a, b] = [await givenTier(call, promotion.id), await givenTier(call, second.id)];
  const stack = await promotions.createPromotionStack(
    { campaignId: second.id, name: "stack", tiers: { ids: [b.id, a.id] } },
    call,
  );
  const projectId = call.project.id;
  const { results: answers } = await campaigns.resolveCampaigns(
    {
      queries: [
        { projectId, campaignIds: [promotion.id, "camp_unknown"], tierIds: ["promo_unknown"] },
        { projectId, campaignNames: [second.name, "unknown"] },
        { projectId, tierIds: [a.id] },
        { projectId, stackIds: [stack.id] },
        { projectId: other.project.id, campaignIds: [promotion.id], tierIds: [a.id] },
      ],
    },
    call,
  );
  expect(
    answers.map((answer) => ({
      campaigns: idsOf(answer.campaigns),
      tiers: idsOf(answer.tiers),
      stacks: idsOf(answer.stacks),
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
  expect(answers[0]?.campaigns[0]).toMatchObject({
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
  expect(answers[2]?.tiers[0]).toEqual({ ...a, summary: undefined });
  expect(answers[3]?.stacks[0]).toEqual(stack);
});

test("all that is switched on: in campaigns that are, whatever the dates", async () => {
  const call = givenProject();
  const on = await givenPromotion(call);
  const off = await givenPromotion(call);
  const tier = await givenTier(call, on.id);
  const over = await givenTier(call, on.id, { expirationDate: instantToProto(NOON - 1) });
  await givenTier(call, on.id, { active: false });
  const hidden = await givenTier(call, off.id);
  const stackOf = (campaignId: string, ids: string[]) =>
    promotions.createPromotionStack({ campaignId, name: newName(), tiers: { ids } }, call);
  const stack = await stackOf(on.id, [tier.id]);
  await stackOf(off.id, [tier.id]);
  await campaigns.disableCampaign({ campaignId: off.id }, call);

  const tiers = await resolve(call, { allActiveTiers: true });
  expect(idsOf(tiers.tiers)).toEqual(idsOf([tier, over]));
  expect(tiers.stacks).toEqual([]);
  const stacks = await resolve(call, { allActiveStacks: true });
  expect(idsOf(stacks.stacks)).toEqual([stack.id]);
  await campaigns.enableCampaign({ campaignId: off.id }, call);
  expect(idsOf((await resolve(call, { allActiveTiers: true })).tiers)).toContain(hidden.id);
});

test("a write shows at once in its process and soon in another", async () => {
  const call = givenProject();
  const category = await categories.createCategory({ name: "C", hierarchy: 3n }, call);
  const promotion = await givenPromotion(call, { categoryId: category.id });
  const tier = await givenTier(call, promotion.id);
  const replica = fixture.replica();
  const query = { tierIds: [tier.id] };
  const { tiers: known } = await resolve(call, query, replica.campaigns);
  expect(known).toEqual([{ ...tier, summary: undefined }]);

  const seen = async () => {
    const { campaigns: found, tiers } = await resolve(call, query);
    return [found[0]?.active, found[0]?.categories[0]?.hierarchy, tiers[0]?.name];
  };
  await campaigns.disableCampaign({ campaignId: promotion.id }, call);
  expect(await seen()).toEqual([false, 3n, tier.name]);
  await categories.updateCategory({ categoryId: category.id, name: "C", hierarchy: 7n }, call);
  expect(await seen()).toEqual([false, 7n, tier.name]);
  await promotions.updatePromotionTier(
    { tierId: tier.id, name: "changed", updateMask: { paths: ["name"] } },
    call,
  );
  expect(await seen()).toEqual([false, 7n, "changed"]);
  await promotions.deletePromotionTier({ tierId: tier.id }, call);
  expect((await resolve(call, query)).tiers).toEqual([]);
  await expect
    .poll(async () => (await resolve(call, query, replica.campaigns)).tiers, { timeout: 60_000 })
    .toEqual([]);
});
