import fc from "fast-check";
import { expect, test } from "vitest";

import { joinData, splitData } from "./activity-data.ts";

const id = fc.string({ minLength: 1 });
const optional = { requiredKeys: [] };
const named = fc.record({ id, name: fc.string() });
const resource = fc.record({ id });

/** The data of an activity before `object` and the other common values are added. */
const data = fc.record(
  {
    redemption: resource,
    rollback: resource,
    publication: fc.record({ id, channel: fc.string() }),
    voucher: resource,
    promotion_tier: resource,
    reward: resource,
    campaign: fc.record({ id, campaign_type: fc.string() }, { requiredKeys: ["id"] }),
    order: fc.record(
      { id, amount: fc.nat(), product_ids: fc.array(id, { minLength: 1 }) },
      { requiredKeys: ["id"] },
    ),
    points: fc.integer(),
    transaction: fc.record({ id, source_id: fc.option(id) }),
    loyalty_tier: fc.oneof(named, resource),
    previous: named,
    expiration_date: fc.string(),
    event: fc.record({
      id,
      type: fc.string(),
      metadata: fc.dictionary(fc.string(), fc.jsonValue()),
    }),
    referral: fc.record({ referrer_id: id }),
  },
  optional,
);

const OBJECTS: Readonly<Record<string, object>> = {
  redemption: { object: "redemption" },
  rollback: { object: "redemption_rollback" },
  publication: { object: "publication" },
  voucher: { object: "voucher" },
  promotion_tier: { object: "promotion_tier" },
  reward: { object: "reward" },
  campaign: { object: "campaign" },
  order: { object: "order", product_ids: [] },
};

test("shows the data that was stored, with the type of each resource", () => {
  fc.assert(
    fc.property(data, (given) => {
      const expected = Object.entries(given).map(([name, value]) => {
        const object = OBJECTS[name];
        return [name, object === undefined ? value : { ...object, ...(value as object) }];
      });
      expect(joinData(splitData(given))).toEqual(Object.fromEntries(expected));
    }),
  );
});

test("stores resources of which only the id is known as their id, and texts as they are", () => {
  const { data: stored } = splitData({
    voucher: { id: "v_1" },
    loyalty_tier: { id: "tier_1" },
    expiration_date: "2026-05-01",
  });
  expect(stored).toEqual({
    voucher: "v_1",
    loyalty_tier: { id: "tier_1" },
    expiration_date: "2026-05-01",
  });
});
