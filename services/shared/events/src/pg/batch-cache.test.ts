import { describe, expect, test } from "vitest";

import { createBatchCache } from "./batch-cache.ts";
import type { LogBatch } from "./log.ts";

const batchAt = (topic: string, firstOffset: bigint, { size = 10 } = {}): LogBatch => ({
  topic,
  firstOffset,
  end: firstOffset + 10n,
  size,
  eventsOf: new Map(),
});

const offsetsOf = (batches: Iterable<LogBatch>): readonly bigint[] =>
  Array.from(batches, ({ firstOffset }) => firstOffset);

describe("a cache of batches", () => {
  test("returns the batches that follow each other from an offset on", () => {
    const cache = createBatchCache(1_000);
    cache.store([batchAt("a", 10n), batchAt("a", 20n)]);
    cache.store([batchAt("a", 0n), batchAt("a", 40n)]);
    cache.store([batchAt("b", 30n)]);
    expect(offsetsOf(cache.from("a", 0n))).toEqual([0n, 10n, 20n]);
    expect(offsetsOf(cache.from("a", 15n))).toEqual([10n, 20n]);
    expect(offsetsOf(cache.from("a", 30n))).toEqual([]);
    expect(offsetsOf(cache.from("a", 49n))).toEqual([40n]);
    expect(offsetsOf(cache.from("a", 50n))).toEqual([]);
    expect(offsetsOf(cache.from("c", 0n))).toEqual([]);
  });

  test("stores a batch once", () => {
    const cache = createBatchCache(25);
    for (let times = 0; times < 5; times += 1) cache.store([batchAt("a", 0n), batchAt("a", 10n)]);
    expect(offsetsOf(cache.from("a", 0n))).toEqual([0n, 10n]);
  });

  test("drops the batches of any topic that were not used for the longest time", () => {
    const cache = createBatchCache(30);
    cache.store([batchAt("a", 0n), batchAt("a", 10n)]);
    cache.store([batchAt("b", 0n)]);
    offsetsOf(cache.from("a", 0n));
    cache.store([batchAt("a", 20n)]);
    expect(offsetsOf(cache.from("a", 0n))).toEqual([0n, 10n, 20n]);
    expect(offsetsOf(cache.from("b", 0n))).toEqual([]);
    cache.store([batchAt("b", 0n, { size: 25 })]);
    expect(offsetsOf(cache.from("a", 0n))).toEqual([]);
    expect(offsetsOf(cache.from("b", 0n))).toEqual([0n]);
  });

  test("keeps nothing that is larger than the cache", () => {
    const cache = createBatchCache(30);
    cache.store([batchAt("a", 0n, { size: 31 })]);
    expect(offsetsOf(cache.from("a", 0n))).toEqual([]);
  });

  test("looks at few of many batches, and uses those that are read", () => {
    let looks = 0;
    const counted = (firstOffset: bigint): LogBatch => ({
      ...batchAt("a", firstOffset, { size: 1 }),
      get end() {
        looks += 1;
        return firstOffset + 10n;
      },
    });
    const cache = createBatchCache(10_000);
    cache.store(Array.from({ length: 10_000 }, (_, nth) => counted(BigInt(nth) * 10n)));
    looks = 0;
    expect(offsetsOf(cache.from("a", 99_990n))).toEqual([99_990n]);
    expect(offsetsOf(cache.from("a", 100_000n))).toEqual([]);
    expect(looks).toBeLessThan(100);
    for (const { firstOffset } of cache.from("a", 0n)) if (firstOffset === 50n) break;
    cache.store([batchAt("b", 0n, { size: 9_993 })]);
    expect(offsetsOf(cache.from("a", 10n))).toEqual([10n, 20n, 30n, 40n, 50n]);
  });
});
