import { expect, test } from "vitest";

import { rewardsToRedeem } from "./auto-redeem.ts";

test.each([
  { available: 99n, price: 100n, stockLeft: null, rewards: 0n },
  { available: 100n, price: 100n, stockLeft: null, rewards: 1n },
  { available: 999n, price: 100n, stockLeft: null, rewards: 9n },
  { available: 10_000n, price: 100n, stockLeft: null, rewards: 25n },
  { available: 10_000n, price: 100n, stockLeft: 3n, rewards: 3n },
  { available: 10_000n, price: 100n, stockLeft: 0n, rewards: 0n },
  { available: 10_000n, price: 100n, stockLeft: 40n, rewards: 25n },
  { available: -5n, price: 1n, stockLeft: null, rewards: 0n },
])("$available points at $price, $stockLeft in stock: $rewards", ({ rewards, ...state }) => {
  expect(rewardsToRedeem(state)).toBe(rewards);
});
