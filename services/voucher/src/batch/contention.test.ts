import { describe, expect, test } from "vitest";

import { createContention } from "./contention.ts";

function start() {
  const clock = { now: 0 };
  return { clock, contention: createContention(() => clock.now) };
}

const held = (...keys: string[]) => ({ locked: [], held: keys, waited: true });

describe("contention", () => {
  test("a voucher is avoided from when it was held until it is met free", () => {
    const { contention } = start();
    expect(contention.avoided(["a", "b"])).toEqual(new Set());
    contention.settle(held("a"));
    expect(contention.avoided(["a", "b"])).toEqual(new Set(["a"]));
    contention.settle({ locked: ["a"], held: [], waited: false });
    expect(contention.avoided(["a", "b"])).toEqual(new Set());
  });

  test("when the mark runs out one batch may wait, and the others keep away", () => {
    const { clock, contention } = start();
    contention.settle(held("a"));
    clock.now = 2_000;
    expect(contention.avoided(["a"])).toEqual(new Set());
    expect(contention.avoided(["a"])).toEqual(new Set(["a"]));
  });

  test("the longer it is held the more seldom it is waited for", () => {
    const { clock, contention } = start();
    const waits: number[] = [];
    for (; clock.now < 32_000; clock.now += 100) {
      if (contention.avoided(["a"]).size > 0) {
        contention.settle({ ...held("a"), waited: false });
      } else {
        waits.push(clock.now);
        contention.settle(held("a"));
      }
    }
    expect(waits).toEqual([0, 2_000, 6_000, 14_000, 22_000, 30_000]);
  });

  test("vouchers that are never met again are forgotten one after the other", () => {
    const { contention } = start();
    const keys = Array.from({ length: 1_001 }, (_, index) => `v_${index}`);
    contention.settle(held(...keys));
    expect(contention.avoided(keys)).toEqual(new Set(keys.slice(1)));
  });
});
