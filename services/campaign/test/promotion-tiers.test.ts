import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { instantToProto } from "@scrip/mapping";
import type {
  CreatePromotionTierRequestSchema,
  UpdatePromotionTierRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
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
  rejectionKey,
  TEN_PERCENT,
} from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, db, promotions } = service;

describe("CreatePromotionTier", () => {
  test("adds a tier after the highest hierarchy of its campaign", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const first = await newTier(service, call, { campaignId, hierarchy: 4n, metadata: { a: 1 } });
    const second = await newTier(service, call, { campaignId });
    expect(first).toMatchObject({
      id: expect.stringMatching(/^promo_/),
      campaignId,
      active: true,
      hierarchy: 4n,
      action: { discount: { percentOff: "10" } },
      metadata: { a: 1 },
      summary: { redemptions: { totalRedeemed: 0n } },
    });
    expect(second.hierarchy).toBe(5n);
    expect(await promotions.getPromotionTier({ tierId: first.id }, call)).toEqual(first);
  });

  test("creates the category of a tier by name, but not for a rejected tier", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call, {
      promotion: {
        tiers: [{ name: "first", action: { discount: TEN_PERCENT }, category: "Spring" }],
      },
    });
    const tier = await newTier(service, call, { campaignId, category: "Spring" });
    expect(tier.categories).toMatchObject([{ id: tier.categoryId, name: "Spring" }]);
    const moved = await promotions.updatePromotionTier(
      { tierId: tier.id, category: "Summer", updateMask: { paths: ["category"] } },
      call,
    );
    expect(moved.categories).toMatchObject([{ name: "Summer" }]);
    const coupons = await newCoupons(service, call);
    const rejected = [
      newTier(service, call, { campaignId: coupons.id, category: "New" }),
      newTier(service, call, { campaignId, category: "New", categoryId: tier.categoryId }),
      promotions.updatePromotionTier({ tierId: "promo_unknown", category: "New" }, call),
    ].map(rejectionKey);
    expect(await Promise.all(rejected)).toEqual([
      "invalid_campaign",
      "invalid_payload",
      "not_found",
    ]);
    expect((await service.categories.listCategories({}, call)).total).toBe(2n);
  });

  test("assigns different hierarchies to tiers that are created concurrently", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const tiers = await Promise.all([1, 2, 3, 4].map(() => newTier(service, call, { campaignId })));
    expect(new Set(tiers.map(({ hierarchy }) => hierarchy)).size).toBe(4);
  });

  test.each<[string, string, Partial<Init<typeof CreatePromotionTierRequestSchema>>]>([
    ["an unknown campaign", "not_found", { campaignId: "camp_unknown" }],
    ["an unknown category", "not_found", { categoryId: "cat_unknown" }],
    ["a discount without a value", "invalid_voucher", { action: { discount: {} } }],
    [
      "an expiration before the start",
      "invalid_campaign_params",
      { startDate: instantToProto(NOON), expirationDate: instantToProto(NOON - 1) },
    ],
  ])("rejects %s with %s", async (_name, key, request) => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    expect(await rejectionKey(newTier(service, call, { campaignId, ...request }))).toBe(key);
    expect((await promotions.listPromotionTiers({}, call)).total).toBe(0n);
  });

  test("rejects a campaign with vouchers and more than 1,000 tiers", async () => {
    const call = newCall();
    const coupons = await newCoupons(service, call);
    expect(await rejectionKey(newTier(service, call, { campaignId: coupons.id }))).toBe(
      "invalid_campaign",
    );
    const { id: campaignId } = await newPromotion(service, call);
    const { id } = await newTier(service, call, { campaignId });
    await db.query(
      `insert into promotion_tier
       select (jsonb_populate_record(t, jsonb_build_object('id', 'promo_' || n))).*
         from promotion_tier t, generate_series(1, 999) n where t.id = $1`,
      [id],
    );
    expect(await rejectionKey(newTier(service, call, { campaignId }))).toBe(
      "invalid_campaign_params",
    );
  });
});

describe("UpdatePromotionTier", () => {
  const update = (
    request: Omit<Init<typeof UpdatePromotionTierRequestSchema>, "updateMask">,
    paths: string[],
    call = newCall(),
  ) => promotions.updatePromotionTier({ ...request, updateMask: { paths } }, call);

  test("changes only the sent fields, merges metadata and clears null fields", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const tier = await newTier(service, call, { campaignId, banner: "b", metadata: { a: 1 } });
    const updated = await update(
      { tierId: tier.id, name: "new", metadata: { b: 2 } },
      ["name", "banner", "metadata"],
      { ...call, now: NOON + 1000 },
    );
    expect(updated).toMatchObject({
      name: "new",
      hierarchy: tier.hierarchy,
      metadata: { a: 1, b: 2 },
      updatedAt: instantToProto(NOON + 1000),
    });
    expect(updated.banner).toBeUndefined();
    expect(await promotions.getPromotionTier({ tierId: tier.id }, call)).toEqual(updated);
  });

  test("loses no field of concurrent updates", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const { id: tierId } = await newTier(service, call, { campaignId });
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        update({ tierId, metadata: { [`k${i}`]: i } }, ["metadata"], call),
      ),
    );
    const { metadata } = await promotions.getPromotionTier({ tierId }, call);
    expect(Object.keys(metadata ?? {})).toHaveLength(10);
  });

  test("rejects invalid requests with their keys and changes nothing", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const tier = await newTier(service, call, { campaignId, startDate: instantToProto(NOON) });
    const tierId = tier.id;
    const attempts: [string, Parameters<typeof update>[0], string][] = [
      ["not_found", { tierId: "promo_unknown" }, "name"],
      ["not_found", { tierId, categoryId: "cat_unknown" }, "category_id"],
      ["invalid_payload", { tierId }, "name"],
      ["invalid_payload", { tierId }, "action"],
      ["invalid_voucher", { tierId, action: { discount: {} } }, "action"],
      ["invalid_campaign_params", { tierId, expirationDate: instantToProto(1) }, "expiration_date"],
    ];
    for (const [key, request, path] of attempts) {
      expect(await rejectionKey(update(request, [path], call))).toBe(key);
    }
    expect(await promotions.getPromotionTier({ tierId }, call)).toEqual(tier);
  });
});

describe("EnablePromotionTier and DisablePromotionTier", () => {
  test("switch a tier, idempotently", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const { id: tierId } = await newTier(service, call, { campaignId });
    const disabled = await promotions.disablePromotionTier({ tierId }, { ...call, now: NOON + 1 });
    expect(disabled.active).toBe(false);
    const later = { ...call, now: NOON + 2 };
    expect(await promotions.disablePromotionTier({ tierId }, later)).toEqual(disabled);
    expect((await promotions.enablePromotionTier({ tierId }, later)).active).toBe(true);
  });

  test("reject an unknown tier", async () => {
    const call = newCall();
    const request = { tierId: "promo_unknown" };
    expect(await rejectionKey(promotions.enablePromotionTier(request, call))).toBe("not_found");
    expect(await rejectionKey(promotions.disablePromotionTier(request, call))).toBe("not_found");
  });
});

describe("DeletePromotionTier", () => {
  test("deletes a tier, and a repetition is rejected", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const { id: tierId } = await newTier(service, call, { campaignId });
    await promotions.deletePromotionTier({ tierId }, call);
    expect(await rejectionKey(promotions.deletePromotionTier({ tierId }, call))).toBe("not_found");
    expect(await rejectionKey(promotions.getPromotionTier({ tierId }, call))).toBe("not_found");
  });

  test("rejects a tier that a stack contains", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const { id: tierId } = await newTier(service, call, { campaignId });
    const { id: stackId } = await newStack(service, call, { campaignId, ids: [tierId] });
    expect(await rejectionKey(promotions.deletePromotionTier({ tierId }, call))).toBe(
      "resource_in_use",
    );
    await promotions.deletePromotionStack({ campaignId, stackId }, call);
    await promotions.deletePromotionTier({ tierId }, call);
  });

  test("either deletes a tier or creates a concurrent stack with it, never both", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    for (let round = 0; round < 5; round += 1) {
      const { id: tierId } = await newTier(service, call, { campaignId });
      const outcomes = await Promise.allSettled([
        promotions.deletePromotionTier({ tierId }, call),
        newStack(service, call, { campaignId, ids: [tierId] }),
      ]);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    }
  });
});

describe("ListPromotionTiers and ListCampaignTiers", () => {
  test("return pages, newest first, of the project and of one campaign", async () => {
    const call = newCall();
    const [one, other] = [await newPromotion(service, call), await newPromotion(service, call)];
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { id } = await newTier(
        service,
        { ...call, now: NOON + i * 1000 },
        { campaignId: i === 1 ? other.id : one.id },
      );
      ids.unshift(id);
    }
    const page = await promotions.listPromotionTiers({ limit: 2n }, call);
    expect(page.tiers.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page.total).toBe(3n);
    const oldest = await promotions.listPromotionTiers({ order: "created_at", limit: 1n }, call);
    expect(oldest.tiers.map(({ id }) => id)).toEqual([ids[2]]);
    const ofCampaign = await promotions.listCampaignTiers({ campaignId: one.name }, call);
    // By hierarchy, unlike the other lists.
    expect(ofCampaign.tiers.map(({ id }) => id)).toEqual([ids[2], ids[0]]);
    const unknown = { campaignId: "camp_unknown" };
    expect(await rejectionKey(promotions.listCampaignTiers(unknown, call))).toBe("not_found");
  });

  test("return tiers of the same time exactly once over pages", async () => {
    const call = newCall();
    const tiers = ["a", "b", "c", "d"].map((name) => ({
      name,
      action: { discount: TEN_PERCENT },
    }));
    const { id: campaignId } = await newPromotion(service, call, { promotion: { tiers } });
    type Page = { order: string; limit: bigint; startingAfter?: Timestamp | undefined };
    const lists = [
      (page: Page) => promotions.listPromotionTiers(page, call),
      (page: Page) => promotions.listCampaignTiers({ ...page, campaignId }, call),
    ];
    for (const list of lists) {
      for (const order of ["created_at", "-created_at", "updated_at", "-updated_at"]) {
        const expected = (await list({ order, limit: 100n })).tiers.map(({ id }) => id);
        expect(expected).toHaveLength(4);
        const ids: string[] = [];
        let startingAfter: Timestamp | undefined;
        do {
          const page = await list({ order, limit: 1n, startingAfter });
          ids.push(...page.tiers.map(({ id }) => id));
          expect(page.moreStartingAfter !== undefined).toBe(page.hasMore);
          startingAfter = page.moreStartingAfter;
        } while (startingAfter !== undefined);
        expect(ids).toEqual(expected);
      }
      const byHierarchy = await list({ order: "hierarchy", limit: 1n });
      expect([byHierarchy.hasMore, byHierarchy.moreStartingAfter]).toEqual([true, undefined]);
    }
  });

  test("continue behind a time, say whether more follow, and limit the time of creation", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const ids: string[] = [];
    for (const index of [0, 1, 2]) {
      const at = { ...call, now: NOON + index * 1000 };
      ids.push((await newTier(service, at, { campaignId })).id);
    }
    const [first, second, third] = ids;
    const idsOfList = (list: { readonly tiers: readonly { readonly id: string }[] }) =>
      list.tiers.map(({ id }) => id);
    const startingAfter = instantToProto(NOON + 1000);
    const page = await promotions.listPromotionTiers({ limit: 2n }, call);
    expect(idsOfList(page)).toEqual([third, second]);
    expect(page).toMatchObject({ hasMore: true, total: 3n });
    const rest = await promotions.listPromotionTiers({ startingAfter }, call);
    expect(idsOfList(rest)).toEqual([first]);
    expect(rest).toMatchObject({ hasMore: false, total: 3n });
    const ofCampaign = await promotions.listCampaignTiers({ campaignId, startingAfter }, call);
    expect(idsOfList(ofCampaign)).toEqual([third]);
    const byHierarchy = { campaignId, startingAfter, order: "hierarchy" };
    expect(await rejectionKey(promotions.listCampaignTiers(byHierarchy, call))).toBe(
      "invalid_query_params",
    );
    const createdAt = { after: instantToProto(NOON), before: instantToProto(NOON + 2000) };
    expect(idsOfList(await promotions.listPromotionTiers({ createdAt }, call))).toEqual([second]);
    expect(idsOfList(await promotions.listCampaignTiers({ campaignId, createdAt }, call))).toEqual([
      second,
    ]);
    const { id } = await newStack(service, call, { campaignId, ids: [first ?? ""] });
    const before = { campaignId, createdAt: { before: instantToProto(NOON + 1) } };
    expect((await promotions.listCampaignStacks(before, call)).data).toMatchObject([{ id }]);
    expect((await promotions.listPromotionStacks({ createdAt }, call)).total).toBe(0n);
  });

  test("show client-side callers only available tiers, without summaries or rule assignments", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const { id: disabledId } = await newPromotion(service, call);
    const available = await newTier(service, call, { campaignId });
    await newTier(service, call, { campaignId, active: false });
    await newTier(service, call, { campaignId, expirationDate: instantToProto(NOON - 1) });
    await newTier(service, call, { campaignId: disabledId });
    await campaigns.disableCampaign({ campaignId: disabledId }, call);
    const clientSide = { ...call, caller: { side: "client" as const, id: "client_test" } };
    const { tiers, total } = await promotions.listPromotionTiers({}, clientSide);
    expect(idsOf(tiers)).toEqual([available.id]);
    expect(total).toBe(1n);
    expect(tiers[0]?.summary).toBeUndefined();
    const all = await promotions.listPromotionTiers({ isAvailable: true }, call);
    expect(all.tiers).toEqual([available]);
    expect((await promotions.listPromotionTiers({}, call)).total).toBe(4n);
  });
});
