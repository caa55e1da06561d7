import fc from "fast-check";
import { expect, test } from "vitest";

import { type RankedItem, pageEnd, rankByDiscount } from "./ranking.ts";

const item = (amount: bigint, createdAt: number, idSuffix: string): RankedItem => ({
  cursor: { createdAt, idSuffix, amount },
});

const items = fc
  .uniqueArray(
    fc.tuple(fc.bigInt({ min: 0n, max: 3n }), fc.integer({ min: 0, max: 3 }), fc.nat(9)),
    {
      selector: ([, createdAt, idSuffix]) => `${createdAt} ${idSuffix}`,
      maxLength: 30,
    },
  )
  .map((all) =>
    all.map(([amount, createdAt, idSuffix]) => item(amount, createdAt, String(idSuffix))),
  );

test("lists the highest discount first, and the newest first among equal discounts", () => {
  const [a, b, c] = [item(5n, 1, "a"), item(7n, 1, "b"), item(5n, 2, "c")];
  const ranked = (rule: "BEST_DEAL" | "LEAST_DEAL") =>
    rankByDiscount([a, b, c], { rule, after: null, limit: 9 });
  expect(ranked("BEST_DEAL")).toEqual([b, c, a]);
  expect(ranked("LEAST_DEAL")).toEqual([c, a, b]);
});

test("lists every item once and in order across the pages of a ranking", () => {
  const rules = fc.constantFrom<"BEST_DEAL" | "LEAST_DEAL">("BEST_DEAL", "LEAST_DEAL");
  fc.assert(
    fc.property(items, rules, fc.integer({ min: 1, max: 7 }), (all, rule, limit) => {
      const whole = rankByDiscount(all, { rule, after: null, limit: all.length });
      const read: RankedItem[] = [];
      for (let page = 0; page <= all.length; page += 1) {
        const after = read.at(-1)?.cursor ?? null;
        read.push(...rankByDiscount(all, { rule, after, limit }));
      }
      expect(read).toEqual(whole);
      expect(whole.toSorted(byCursor)).toEqual(all.toSorted(byCursor));
    }),
  );
});

const byCursor = (a: RankedItem, b: RankedItem): number =>
  a.cursor.createdAt - b.cursor.createdAt || (a.cursor.idSuffix < b.cursor.idSuffix ? -1 : 1);

test("ends a page with a creation time alone, unless the next item has the same one", () => {
  const last = { createdAt: 5, idSuffix: "b" };
  expect(pageEnd(last, { createdAt: 4, idSuffix: "c" })).toEqual({ createdAt: 5, idSuffix: null });
  expect(pageEnd(last, { createdAt: 5, idSuffix: "a" })).toEqual(last);
  expect(pageEnd(last, null)).toEqual(last);
});
