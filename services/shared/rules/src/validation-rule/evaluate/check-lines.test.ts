import { expect, test } from "vitest";

import { buildReader, buildRule, buildLine } from "../../../test/builders.ts";
import { checkRule } from "./check-rule.ts";
import { items } from "./items.test-cases.ts";
import { olderForms, subRules } from "./sub-rules.test-cases.ts";

/** Enough lines for the cache, and none that any rule matches. */
const others = Array.from({ length: 20 }, (_, n) => buildLine({ productId: `other_${n}` }));

test("returns cached results of many lines, separately per rule", () => {
  const cases = [...items, ...subRules, ...olderForms].map(([, name, sent, { lines }]) => ({
    rule: buildRule({ 1: { name, ...sent } }),
    lines: [...lines, ...others],
  }));
  for (const { lines } of cases) {
    const reader = buildReader({ lines });
    const check = ({ rule }: (typeof cases)[number]) => checkRule(rule, reader, "before_effect");
    const uncached = cases.map(({ rule }) =>
      checkRule(rule, buildReader({ lines: [...lines] }), "before_effect"),
    );
    expect(cases.map(check)).toEqual(uncached);
    expect(cases.map(check)).toEqual(uncached);
  }
});

test("counts days relative to the time of each check", () => {
  const lines = others.map((line) => ({ ...line, metadata: { made: "2026-11-20" } }));
  const conditions = { $less_than_ago: [3] };
  const rule = buildRule({ 1: { name: "order.items.metadata_any", property: "made", conditions } });
  const statusAt = (day: string) => {
    const time = { now: Date.parse(`${day}T12:00:00Z`), timeZone: "UTC" };
    return checkRule(rule, buildReader({ lines, time }), "before_effect").status;
  };
  expect([statusAt("2026-11-21"), statusAt("2026-12-21"), statusAt("2026-11-22")]).toEqual([
    "holds",
    "violated",
    "holds",
  ]);
});
