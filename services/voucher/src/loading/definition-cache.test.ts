import { describe, expect, test } from "vitest";

import type { VoucherDefinition } from "../domain/voucher.ts";
import { toCachedDefinition } from "../mapping/voucher.ts";
import { createDefinitionCache } from "./definition-cache.ts";

const definitionOf = (
  number: number,
  more: Partial<VoucherDefinition> = {},
): VoucherDefinition => ({
  projectId: "proj_1",
  id: `v_${number}`,
  code: `CODE-${number}`,
  type: "LOYALTY_CARD",
  campaignId: "camp_1",
  campaignName: "Summer",
  campaignType: "LOYALTY_PROGRAM",
  categoryId: null,
  discount: null,
  giftEffect: null,
  loyaltyPoints: 10n,
  validity: { startDate: 1, expirationDate: null, timeframe: null, daysOfWeek: [1], hours: null },
  activityDuration: null,
  active: true,
  additionalInfo: null,
  metadata: { color: "red" },
  assetId: `asset_${number}`,
  isReferralCode: false,
  holderId: `cust_${number}`,
  referrerId: null,
  publishCount: 1n,
  publicationMetadata: null,
  createdAt: 1_000 + number,
  updatedAt: null,
  version: 1n,
  ...more,
});

const SIZE = { codes: 100, shared: 4, whole: 2 };

describe("the cache of definitions", () => {
  test("returns each definition as it was added, long after it was last used", () => {
    const cache = createDefinitionCache(SIZE);
    const definitions = Array.from({ length: 40 }, (_, number) => definitionOf(number));
    for (const definition of definitions) {
      cache.add(toCachedDefinition(definition), definition.code);
    }
    for (const definition of definitions) {
      const expected = toCachedDefinition(definition);
      expect(cache.byCode("proj_1", definition.code)).toEqual(expected);
      expect(cache.byId("proj_1", definition.id)).toEqual(expected);
      expect(cache.byVersion("proj_1", definition.id, 1n)).toEqual(expected);
    }
  });

  test("shares what the codes of a campaign have in common", () => {
    const cache = createDefinitionCache({ ...SIZE, whole: 1 });
    for (const number of [1, 2, 3]) {
      cache.add(toCachedDefinition(definitionOf(number)), `CODE-${number}`);
    }
    const [one, two] = [cache.byCode("proj_1", "CODE-1"), cache.byCode("proj_1", "CODE-2")];
    expect(one?.message.validityDayOfWeek).toBe(two?.message.validityDayOfWeek);
    expect(one?.message.id).not.toBe(two?.message.id);
  });

  test("drops definitions that share nothing when there are too many of them", () => {
    const cache = createDefinitionCache(SIZE);
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    for (const number of numbers) {
      const definition = definitionOf(number, { metadata: { number } });
      cache.add(toCachedDefinition(definition), definition.code);
    }
    const found = numbers.filter((number) => cache.byCode("proj_1", `CODE-${number}`));
    expect(found.length).toBeLessThanOrEqual(SIZE.shared + SIZE.whole);
    expect(found.at(-1)).toBe(19);
  });

  test("keeps the version that another one replaced", () => {
    const cache = createDefinitionCache(SIZE);
    const before = toCachedDefinition(definitionOf(1));
    const after = toCachedDefinition(definitionOf(1, { version: 2n, active: false }));
    cache.add(before, "CODE-1");
    cache.add(after);
    expect(cache.byVersion("proj_1", "v_1", 1n)).toEqual(before);
    expect(cache.byVersion("proj_1", "v_1", 2n)).toEqual(after);
    expect(cache.byId("proj_1", "v_1")).toEqual(after);
  });
});
