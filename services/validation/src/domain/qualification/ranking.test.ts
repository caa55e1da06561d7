import fc from "fast-check";
import { expect, test } from "vitest";

import { type Deal, endOfPage, rankDeals } from "./ranking.ts";

const deal = (amount: bigint, at: number, tail: string): Deal => ({ place: { at, tail, amount } });

const deals = fc
  .uniqueArray(
    fc.tuple(fc.bigInt({ min: 0n, max: 3n }), fc.integer({ min: 0, max: 3 }), fc.nat(9)),
    {
      selector: ([, at, tail]) => `${at} ${tail}`,
      maxLength: 30,
    },
  )
  .map((all) => all.map(([amount, at, tail]) => deal(amount, at, String(tail))));

test("the best is first, and of the same the newest", () => {
  const [a, b, c] = [deal(5n, 1, "a"), deal(7n, 1, "b"), deal(5n, 2, "c")];
  const ranked = (rule: "BEST_DEAL" | "LEAST_DEAL") =>
    rankDeals([a, b, c], { rule, after: null, limit: 9 });
  expect(ranked("BEST_DEAL")).toEqual([b, c, a]);
  expect(ranked("LEAST_DEAL")).toEqual([c, a, b]);
});

test("pages of a ranking hold everything once and in order", () => {
  const rules = fc.constantFrom<"BEST_DEAL" | "LEAST_DEAL">("BEST_DEAL", "LEAST_DEAL");
  fc.assert(
    fc.property(deals, rules, fc.integer({ min: 1, max: 7 }), (all, rule, limit) => {
      const whole = rankDeals(all, { rule, after: null, limit: all.length });
      const read: Deal[] = [];
      for (let page = 0; page <= all.length; page += 1) {
        const after = read.at(-1)?.place ?? null;
        read.push(...rankDeals(all, { rule, after, limit }));
      }
      expect(read).toEqual(whole);
      expect(whole.toSorted(byPlace)).toEqual(all.toSorted(byPlace));
    }),
  );
});

const byPlace = (a: Deal, b: Deal): number =>
  a.place.at - b.place.at || (a.place.tail < b.place.tail ? -1 : 1);

test("a page ends at an instant, unless its last one shares it with the next one", () => {
  const last = { at: 5, tail: "b" };
  expect(endOfPage(last, { at: 4, tail: "c" })).toEqual({ at: 5, tail: null });
  expect(endOfPage(last, { at: 5, tail: "a" })).toEqual(last);
  expect(endOfPage(last, null)).toEqual(last);
});
