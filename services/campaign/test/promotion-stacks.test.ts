import { instantToProto } from "@scrip/mapping";
import type { UpdatePromotionStackRequestSchema } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import {
  type Init,
  newCall,
  newCoupons,
  newPromotion,
  newStack,
  newTier,
  NOON,
  rejectionKey,
} from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { db, promotions } = service;

/** A promotion with two tiers. */
async function newTiers(call: Call) {
  const { id: campaignId, name } = await newPromotion(service, call);
  const tiers = [
    await newTier(service, call, { campaignId }),
    await newTier(service, call, { campaignId }),
  ];
  return { campaignId, name, ids: tiers.map(({ id }) => id) };
}

describe("CreatePromotionStack", () => {
  test("stacks tiers of any campaign of the project in the requested order", async () => {
    const call = newCall();
    const { ids } = await newTiers(call);
    const { id: campaignId, name } = await newPromotion(service, call);
    const stack = await newStack(service, call, { campaignId: name, ids: ids.toReversed() });
    expect(stack).toMatchObject({
      id: expect.stringMatching(/^stack_/),
      campaignId,
      tiers: { ids: ids.toReversed(), hierarchyMode: "MANUAL" },
      createdAt: instantToProto(NOON),
    });
    const found = await promotions.getPromotionStack({ campaignId, stackId: stack.id }, call);
    expect(found).toEqual(stack);
  });

  test("rejects invalid requests with their keys", async () => {
    const call = newCall();
    const { campaignId, ids } = await newTiers(call);
    const coupons = await newCoupons(service, call);
    const attempts: [string, { campaignId: string; ids: string[] }][] = [
      ["not_found", { campaignId: "camp_unknown", ids }],
      ["not_found", { campaignId, ids: [...ids, "promo_unknown"] }],
      ["invalid_payload", { campaignId, ids: [...ids, ...ids] }],
      ["invalid_campaign", { campaignId: coupons.id, ids }],
    ];
    for (const [key, request] of attempts) {
      expect(await rejectionKey(newStack(service, call, request))).toBe(key);
    }
    expect((await promotions.listPromotionStacks({}, call)).total).toBe(0n);
  });

  test("rejects more than 1,000 stacks in a project", async () => {
    const call = newCall();
    const { campaignId, ids } = await newTiers(call);
    const { id } = await newStack(service, call, { campaignId, ids });
    await db.query(
      `insert into promotion_stack
       select (jsonb_populate_record(s, jsonb_build_object('id', 'stack_' || n))).*
         from promotion_stack s, generate_series(1, 999) n where s.id = $1`,
      [id],
    );
    expect(await rejectionKey(newStack(service, call, { campaignId, ids }))).toBe(
      "invalid_campaign_params",
    );
  });
});

describe("UpdatePromotionStack", () => {
  const update = (
    request: Omit<Init<typeof UpdatePromotionStackRequestSchema>, "updateMask">,
    paths: string[],
    call: Call,
  ) => promotions.updatePromotionStack({ ...request, updateMask: { paths } }, call);

  test("changes only the sent fields", async () => {
    const call = newCall();
    const { campaignId, ids } = await newTiers(call);
    const stack = await newStack(service, call, { campaignId, ids });
    const request = {
      campaignId,
      stackId: stack.id,
      tiers: { ids: [ids[1]!] },
      metadata: { a: 1 },
    };
    const later = { ...call, now: NOON + 1000 };
    const updated = await update(request, ["tiers", "metadata"], later);
    expect(updated).toMatchObject({
      name: stack.name,
      tiers: { ids: [ids[1]] },
      metadata: { a: 1 },
      updatedAt: instantToProto(NOON + 1000),
    });
    expect(await update(request, ["tiers", "metadata"], later)).toEqual(updated);
  });

  test("rejects invalid requests with their keys", async () => {
    const call = newCall();
    const { campaignId, ids } = await newTiers(call);
    const { id: stackId } = await newStack(service, call, { campaignId, ids });
    const other = await newPromotion(service, call);
    const attempts: [string, Parameters<typeof update>[0], string][] = [
      ["not_found", { campaignId, stackId: "stack_unknown" }, "metadata"],
      ["not_found", { campaignId: other.id, stackId }, "metadata"],
      ["not_found", { campaignId: "camp_unknown", stackId }, "metadata"],
      ["not_found", { campaignId, stackId, tiers: { ids: ["promo_unknown"] } }, "tiers"],
      ["not_found", { campaignId, stackId, categoryId: "cat_unknown" }, "category_id"],
      ["invalid_payload", { campaignId, stackId }, "name"],
      ["invalid_payload", { campaignId, stackId }, "tiers"],
    ];
    for (const [key, request, path] of attempts) {
      expect(await rejectionKey(update(request, [path], call))).toBe(key);
    }
  });
});

describe("DeletePromotionStack", () => {
  test("deletes a stack but not its tiers, and a repetition is rejected", async () => {
    const call = newCall();
    const { campaignId, ids } = await newTiers(call);
    const { id: stackId } = await newStack(service, call, { campaignId, ids });
    const request = { campaignId, stackId };
    await promotions.deletePromotionStack(request, call);
    expect(await rejectionKey(promotions.deletePromotionStack(request, call))).toBe("not_found");
    expect(await rejectionKey(promotions.getPromotionStack(request, call))).toBe("not_found");
    expect((await promotions.listPromotionTiers({}, call)).total).toBe(2n);
  });
});

describe("ListPromotionStacks and ListCampaignStacks", () => {
  test("return pages, newest first, of the project and of one campaign", async () => {
    const call = newCall();
    const { campaignId, name, ids } = await newTiers(call);
    const other = await newPromotion(service, call);
    const stacks: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { id } = await newStack(
        service,
        { ...call, now: NOON + i * 1000 },
        { campaignId: i === 1 ? other.id : campaignId, ids },
      );
      stacks.unshift(id);
    }
    const page = await promotions.listPromotionStacks({ limit: 2n }, call);
    expect(page.data.map(({ id }) => id)).toEqual(stacks.slice(0, 2));
    expect(page.total).toBe(3n);
    const byName = await promotions.listPromotionStacks({ order: "name" }, call);
    const names = byName.data.map((stack) => stack.name);
    expect(names).toEqual(names.toSorted());
    const byNameDown = await promotions.listCampaignStacks(
      { campaignId: name, order: "-name" },
      call,
    );
    const namesDown = byNameDown.data.map((stack) => stack.name);
    expect(namesDown).toEqual(namesDown.toSorted().toReversed());
    const ofCampaign = await promotions.listCampaignStacks({ campaignId: name }, call);
    expect(ofCampaign.data.map(({ id }) => id)).toEqual([stacks[0], stacks[2]]);
    const unknown = { campaignId: "camp_unknown" };
    expect(await rejectionKey(promotions.listCampaignStacks(unknown, call))).toBe("not_found");
  });
});
