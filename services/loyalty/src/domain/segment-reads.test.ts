import { describe, expect, test } from "vitest";

import { activityReads, mergedReads } from "./segment-reads.ts";

const visits = (conditions: object) => ({ "events.visit.count": { conditions } });
const limitOf = (conditions: object) => activityReads(visits(conditions)).events.get("visit");

describe("activityReads", () => {
  test.each<[object, bigint]>([
    [{ $is: 2 }, 3n],
    [{ $more_than: ["7"] }, 8n],
    [{ $in: [1, 40, 3] }, 41n],
    [{ $more_than: 2, $less_than: [10] }, 11n],
    [{ $less_than: 2.5 }, 4n],
    [{ $more_than: -3 }, 1n],
    [{ $has_value: "" }, 1n],
    [{ $less_than: "99999999999999999999" }, 1n],
  ])("counts custom events one further than the largest operand of %j", (conditions, limit) => {
    expect(limitOf(conditions)).toBe(limit);
  });

  test("reads points and custom events only for the fields that name them", () => {
    const of = (field: string) => activityReads({ [field]: { conditions: { $is: 1 } } });
    expect(of("loyalty.points")).toEqual({ points: true, events: new Map() });
    expect(of("loyalty_points.campaigns.Club.points").points).toBe(true);
    expect(of("summary.redemptions.loyalty_card.points_to_go").points).toBe(true);
    expect(of("events.a.count.count").events).toEqual(new Map([["a.count", 2n]]));
    for (const field of ["name", "metadata.events.a.count", "summary.orders.total_count"]) {
      expect(of(field)).toEqual({ points: false, events: new Map() });
    }
    expect(activityReads({ junction: "or" })).toEqual({ points: false, events: new Map() });
  });
});

test("mergedReads reads what any of the filters reads, with the largest limits", () => {
  const merged = mergedReads([
    activityReads(visits({ $is: 2 })),
    activityReads(visits({ $is: 1 })),
    activityReads({ "events.review.count": { conditions: { $is: 0 } } }),
    activityReads({ "loyalty.points": { conditions: { $is: 0 } } }),
  ]);
  expect(merged).toEqual({
    points: true,
    events: new Map([
      ["visit", 3n],
      ["review", 1n],
    ]),
  });
});
