import { describe, expect, test } from "vitest";

import { createContention } from "./contention.ts";

function start() {
  const clock = { now: 0 };
  return { clock, contention: createContention(() => clock.now) };
}

const held = (...keys: string[]) => ({ locked: [], lockedByOthers: keys, waited: true });

describe("contention", () => {
  test("a voucher is avoided from when it was held until it is met free", () => {
    const { contention } = start();
    expect(contention.contended(["a", "b"])).toEqual(new Set());
    contention.record(held("a"));
    expect(contention.contended(["a", "b"])).toEqual(new Set(["a"]));
    contention.record({ locked: ["a"], lockedByOthers: [], waited: false });
    expect(contention.contended(["a", "b"])).toEqual(new Set());
  });

  test("when the mark runs out one batch may wait, and the others keep away", () => {
    const { clock, contention } = start();
    contention.record(held("a"));
    clock.now = 2_000;
    expect(contention.contended(["a"])).toEqual(new Set());
    expect(contention.contended(["a"])).toEqual(new Set(["a"]));
  });

  test("the longer it is held the more seldom it is waited for", () => {
    const { clock, contention } = start();
    const waits: number[] = [];
    for (; clock.now < 32_000; clock.now += 100) {
      if (contention.contended(["a"]).size > 0) {
        contention.record({ ...held("a"), waited: false });
      } else {
        waits.push(clock.now);
        contention.record(held("a"));
      }
    }
    expect(waits).toEqual([0, 2_000, 6_000, 14_000, 22_000, 30_000]);
  });

  test("vouchers that are never met again are forgotten one after the other", () => {
    const { contention } = start();
    const keys = Array.from({ length: 1_001 }, (_, index) => `v_${index}`);
    contention.record(held(...keys));
    expect(contention.contended(keys)).toEqual(new Set(keys.slice(1)));
  });
});
