import { describe, expect, test } from "vitest";

import { createContention } from "./contention.ts";

function start() {
  const clock = { now: 0 };
  return { clock, contention: createContention(() => clock.now) };
}

const held = (...keys: string[]) => ({ locked: [], lockedByOthers: keys, waited: true });

describe("contention", () => {
  test("skips a row from when it was locked by others until a batch locks it", () => {
    const { contention } = start();
    expect(contention.contended(["a", "b"])).toEqual(new Set());
    contention.record(held("a"));
    expect(contention.contended(["a", "b"])).toEqual(new Set(["a"]));
    contention.record({ locked: ["a"], lockedByOthers: [], waited: false });
    expect(contention.contended(["a", "b"])).toEqual(new Set());
  });

  test("lets one batch wait when the mark expires, while others still skip the row", () => {
    const { clock, contention } = start();
    contention.record(held("a"));
    clock.now = 2_000;
    expect(contention.contended(["a"])).toEqual(new Set());
    expect(contention.contended(["a"])).toEqual(new Set(["a"]));
  });

  test("waits less often the longer a row stays locked", () => {
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

  test("drops the oldest marks of rows that are never seen again", () => {
    const { contention } = start();
    const keys = Array.from({ length: 1_001 }, (_, index) => `v_${index}`);
    contention.record(held(...keys));
    expect(contention.contended(keys)).toEqual(new Set(keys.slice(1)));
  });
});
