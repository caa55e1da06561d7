import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  CreateRewardRequestSchema,
  UpdateRewardRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { afterAll, describe, expect, test } from "vitest";

import { type Init, newCall, newReward, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { rewards } = loyalty;

const product = { id: "prod_1", skuId: "sku_1" };
const coin = { exchangeRatio: "0.5" };

describe("CreateReward", () => {
  test.each<[string, Init<typeof CreateRewardRequestSchema>, object]>([
    [
      "MATERIAL",
      { type: "MATERIAL", parameters: { product }, stock: 3n },
      { parameters: { product }, stock: 3n, redeemed: 0n },
    ],
    [
      "COIN",
      { type: "COIN", parameters: { coin } },
      { parameters: { coin: { exchangeRatio: "0.5", pointsRatio: 1n } } },
    ],
    [
      "CAMPAIGN",
      { type: "CAMPAIGN", parameters: { campaign: { id: "camp_1", type: "DISCOUNT_COUPONS" } } },
      { parameters: { campaign: { id: "camp_1", type: "DISCOUNT_COUPONS" } } },
    ],
  ])("stores a %s reward", async (type, request, expected) => {
    const call = newCall();
    const attributes = { imageUrl: "https://example.com/x.png", description: "A mug" };
    const body = { ...request, name: "Mug", attributes, metadata: { a: 1 } };
    const created = await rewards.createReward(body, call);
    expect(created).toMatchObject({
      id: expect.stringMatching(/^rew_/),
      type,
      name: "Mug",
      attributes,
      metadata: { a: 1 },
      createdAt: timestampFromMs(NOON),
      ...expected,
    });
    expect(await rewards.getReward({ rewardId: created.id }, call)).toEqual(created);
  });

  test.each<[string, Init<typeof CreateRewardRequestSchema>]>([
    ["MATERIAL", { parameters: { product } }],
    ["COIN", { parameters: { coin } }],
    ["CAMPAIGN", { parameters: { campaign: { id: "camp_1", type: "DISCOUNT_COUPONS" } } }],
  ])("infers the type %s from the parameters", async (type, request) => {
    expect(await rewards.createReward(request, newCall())).toMatchObject({ type });
  });

  test.each<[string, Init<typeof CreateRewardRequestSchema>, string]>([
    ["without a type and without parameters", { parameters: {} }, "invalid_payload"],
    ["without the parameter of its type", { type: "MATERIAL", parameters: {} }, "invalid_payload"],
    [
      "with a parameter of another type",
      { type: "COIN", parameters: { coin, product } },
      "invalid_payload",
    ],
    [
      "with a stock that is not MATERIAL",
      { type: "COIN", parameters: { coin }, stock: 1n },
      "invalid_payload",
    ],
    [
      "for gift cards without a balance",
      { type: "CAMPAIGN", parameters: { campaign: { id: "camp_1", type: "GIFT_VOUCHERS" } } },
      "invalid_balance",
    ],
    [
      "of a promotion, which has no vouchers to publish",
      { type: "CAMPAIGN", parameters: { campaign: { id: "camp_1", type: "PROMOTION" } } },
      "invalid_payload",
    ],
  ])("rejects a reward %s", async (_name, request, key) => {
    const call = newCall();
    await expect(rewards.createReward(request, call)).rejects.toMatchObject({ key });
    expect((await rewards.listRewards({}, call)).total).toBe(0n);
  });
});

describe("GetReward", () => {
  test("rejects an unknown reward", async () => {
    await expect(rewards.getReward({ rewardId: "rew_1" }, newCall())).rejects.toMatchObject({
      key: "not_found",
    });
  });
});

describe("UpdateReward", () => {
  const update = (
    request: Omit<Init<typeof UpdateRewardRequestSchema>, "updateMask"> & {
      readonly paths?: string[];
    },
    call = newCall(),
  ) => {
    const { paths = [], ...body } = request;
    return rewards.updateReward({ ...body, updateMask: { paths } }, call);
  };

  test("clears the attributes that the mask names without a value", async () => {
    const call = newCall();
    const attributes = { description: "A mug", imageUrl: "https://example.com/x.png" };
    const { id: rewardId } = await newReward(loyalty, call, { attributes });
    const cleared = async (...paths: string[]) =>
      (await update({ rewardId, paths }, call)).attributes;
    expect(await cleared("attributes.image_url")).toMatchObject({ description: "A mug" });
    expect((await rewards.getReward({ rewardId }, call)).attributes?.imageUrl).toBeUndefined();
    expect((await cleared("attributes"))?.description).toBeUndefined();
  });

  test("changes only the sent fields, merges metadata and clears null fields", async () => {
    const call = newCall();
    const attributes = { description: "A mug" };
    const created = await newReward(loyalty, call, { stock: 3n, attributes, metadata: { a: 1 } });
    const changed = await update(
      {
        rewardId: created.id,
        metadata: { b: 2 },
        attributes: { imageUrl: "https://example.com/x.png" },
        paths: ["stock", "metadata", "attributes"],
      },
      { ...call, now: NOON + 1000 },
    );
    expect(changed).toMatchObject({
      name: "Mug",
      attributes: { description: "A mug", imageUrl: "https://example.com/x.png" },
      metadata: { a: 1, b: 2 },
      updatedAt: timestampFromMs(NOON + 1000),
    });
    expect(changed.stock).toBeUndefined();
    expect(await rewards.getReward({ rewardId: created.id }, call)).toEqual(changed);
  });

  test("rejects an unknown reward and parameters of another type", async () => {
    const call = newCall();
    const { id } = await newReward(loyalty, call);
    await expect(update({ rewardId: "rew_1" }, call)).rejects.toMatchObject({ key: "not_found" });
    await expect(update({ rewardId: id, parameters: { coin } }, call)).rejects.toMatchObject({
      key: "invalid_payload",
    });
    const campaign = { id: "camp_1", type: "GIFT_VOUCHERS", balance: 100n };
    const ofGifts = await newReward(loyalty, call, { type: "CAMPAIGN", parameters: { campaign } });
    const withoutBalance = { campaign: { ...campaign, balance: 0n } };
    await expect(
      update({ rewardId: ofGifts.id, parameters: withoutBalance }, call),
    ).rejects.toMatchObject({ key: "invalid_balance" });
  });

  test("loses no field of concurrent updates", async () => {
    const call = newCall();
    const { id: rewardId } = await newReward(loyalty, call);
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => update({ rewardId, metadata: { [`k${i}`]: i } }, call)),
    );
    const { metadata } = await rewards.getReward({ rewardId }, call);
    expect(Object.keys(metadata ?? {})).toHaveLength(10);
  });
});

describe("ListRewards", () => {
  test("returns pages, newest first, and finds the reward of an assignment", async () => {
    const call = newCall();
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { id } = await newReward(loyalty, { ...call, now: NOON + i * 1000 });
      ids.unshift(id);
    }
    const list = async (request: object) => {
      const { data, total } = await rewards.listRewards(request, call);
      return { ids: data.map(({ id }) => id), total };
    };
    expect(await list({ limit: 2n })).toEqual({ ids: ids.slice(0, 2), total: 3n });
    expect(await list({ limit: 2n, page: 2n })).toEqual({ ids: ids.slice(2), total: 3n });
    const { id: assignmentId } = await rewards.createRewardAssignment(
      { rewardId: ids[1]!, campaign: "camp_1", parameters: { loyalty: { points: 1n } } },
      call,
    );
    expect(await list({ assignmentId })).toEqual({ ids: [ids[1]], total: 1n });
    expect(await list({ assignmentId: "rewa_1" })).toEqual({ ids: [], total: 0n });
    const createdAt = { after: timestampFromMs(NOON), before: timestampFromMs(NOON + 2000) };
    expect(await list({ createdAt })).toEqual({ ids: [ids[1]], total: 1n });
    expect(await list({ createdAt: { after: createdAt.before } })).toEqual({ ids: [], total: 0n });
  });
});

describe("DeleteReward", () => {
  test("deletes a reward, and a repetition is rejected", async () => {
    const call = newCall();
    const { id: rewardId } = await newReward(loyalty, call);
    await rewards.deleteReward({ rewardId }, call);
    await expect(rewards.deleteReward({ rewardId }, call)).rejects.toMatchObject({
      key: "not_found",
    });
  });

  test("rejects an assigned reward and names its assignments", async () => {
    const call = newCall();
    const { id: rewardId } = await newReward(loyalty, call);
    const { id } = await rewards.createRewardAssignment(
      { rewardId, campaign: "camp_1", parameters: { loyalty: { points: 1n } } },
      call,
    );
    await expect(rewards.deleteReward({ rewardId }, call)).rejects.toMatchObject({
      key: "resource_in_use",
      options: { details: expect.stringContaining(id) },
    });
    await rewards.deleteRewardAssignment({ rewardId, assignmentId: id }, call);
    await rewards.deleteReward({ rewardId }, call);
  });
});
