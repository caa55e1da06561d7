import type { CountMeasure } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  type CountIncrement,
  incrementFor,
  createTally,
  type Guard,
  type ProjectCount,
} from "./counts.ts";

const PROJECT = "proj_1";

const MEASURES = [
  "REDEMPTIONS",
  "ORDERS_AMOUNT",
  "DISCOUNTED_AMOUNT",
  "GIFT_CREDITS",
  "UNITS",
] as const satisfies readonly CountMeasure[];

const count: fc.Arbitrary<ProjectCount> = fc.record({
  projectId: fc.constantFrom(PROJECT, "proj_2"),
  scope: fc.record({
    kind: fc.constant("campaign" as const),
    id: fc.constantFrom("camp_1", "camp_2"),
  }),
  measure: fc.constantFrom(...MEASURES),
  customerId: fc.constantFrom(null, "cust_1", "cust_2"),
  channelId: fc.constantFrom(null, "app_1"),
  since: fc.constantFrom(null, 100, 200),
  productId: fc.constantFrom("prod_1", "prod_2"),
});

const amount = fc.bigInt(0n, 50n);

const addition: fc.Arbitrary<CountIncrement> = fc.record({
  projectId: fc.constantFrom(PROJECT, "proj_2"),
  voucherId: fc.constantFrom("v_1", null),
  tierId: fc.constant(null),
  campaignId: fc.constantFrom("camp_1", "camp_2", null),
  customerId: fc.constantFrom(null, "cust_1", "cust_2"),
  channelId: fc.constantFrom("app_1", "app_2"),
  at: fc.constantFrom(50, 100, 150, 250),
  orderAmount: amount,
  discountedAmount: amount,
  credits: amount,
  units: fc.array(fc.record({ productId: fc.constantFrom("prod_1", "prod_2"), quantity: amount }), {
    maxLength: 3,
  }),
});

/** What the count says in words, one addition at a time. */
function isOf(of: CountIncrement, by: ProjectCount): boolean {
  return (
    of.projectId === by.projectId &&
    of.campaignId === by.scope.id &&
    (by.customerId === null || of.customerId === by.customerId) &&
    (by.channelId === null || of.channelId === by.channelId) &&
    (by.since === null || of.at >= by.since)
  );
}

const guardOf = (one: ProjectCount, expected: bigint): Guard => ({
  count: one,
  add: 0n,
  conditions: { $is: [Number(expected)] },
  rejects: true,
});

describe("createTally", () => {
  test("adds increments to the stored values, and undoes subtracted ones", () => {
    fc.assert(
      fc.property(
        fc.array(count, { maxLength: 12 }),
        fc.array(addition, { maxLength: 20 }),
        fc.array(addition, { maxLength: 5 }),
        (counts, added, undone) => {
          const tally = createTally(counts.map((one) => ({ count: one, value: 7n })));
          for (const one of [...added, ...undone]) tally.add(one, 1n);
          for (const one of undone) tally.add(one, -1n);
          for (const one of counts) {
            const sum = added
              .filter((each) => isOf(each, one))
              .reduce((total, each) => total + incrementFor(one.measure, one.productId, each), 7n);
            expect(tally.holds(guardOf(one, sum))).toBe(true);
          }
        },
      ),
    );
  });

  test("throws for a count that was not loaded", () => {
    const [one] = fc.sample(count, 1);
    if (one === undefined) throw new Error("no sample");
    expect(() => createTally([]).holds(guardOf(one, 0n))).toThrow(
      "count of a guard was not loaded",
    );
  });
});
