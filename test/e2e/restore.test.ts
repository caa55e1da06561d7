import { expect, test } from "vitest";

import { drillRestore } from "../load/point-in-time-restore.ts";

test("a restored moment has all redemptions acknowledged before it, none sent after it, and exact balances", async () => {
  const report: string[] = [];
  const differences = await drillRestore({
    rate: 50,
    count: 25,
    report: (line) => report.push(line),
  });
  expect(differences, report.join("\n")).toEqual([]);
  expect(report.at(-1)).toMatch(/^[1-9]\d* groups set back$/);
}, 240_000);
