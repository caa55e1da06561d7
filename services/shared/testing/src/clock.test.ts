import { expect, test } from "vitest";

import { fakeClock } from "./clock.ts";

test("stands still until it is moved", () => {
  const { now, advance, set } = fakeClock("2026-03-01T12:00:00Z");
  expect([now(), now()]).toEqual([Date.UTC(2026, 2, 1, 12), Date.UTC(2026, 2, 1, 12)]);
  advance(1_500);
  expect(new Date(now()).toISOString()).toBe("2026-03-01T12:00:01.500Z");
  set("2026-01-01T00:00:00Z");
  expect(now()).toBe(Date.UTC(2026, 0, 1));
});
