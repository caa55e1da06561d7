import { expect, test } from "vitest";

import { createRetryBudget } from "./retry-budget.ts";

test("allows a burst of ten retries, and then two for 25 calls", () => {
  const budget = createRetryBudget();
  const taken = () => {
    let times = 0;
    while (budget.take()) times += 1;
    return times;
  };
  expect(taken()).toBe(10);
  for (let call = 0; call < 38; call += 1) budget.countCall();
  expect(taken()).toBe(3);
  for (let call = 0; call < 1_000; call += 1) budget.countCall();
  expect(taken()).toBe(10);
});
