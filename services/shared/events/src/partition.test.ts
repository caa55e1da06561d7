import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { murmur2, PARTITIONS, partitionOf } from "./partition.ts";

describe("murmur2", () => {
  // The vectors of Kafka's own client, so that both adapters assign the same partitions.
  test.each([
    ["21", -973_932_308],
    ["foobar", -790_332_482],
    ["a-little-bit-long-string", -985_981_536],
    ["a-little-bit-longer-string", -1_486_304_829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971],
    ["abc", 479_470_107],
  ])("hashes %s as Kafka does", (text, hash) => {
    expect(murmur2(Buffer.from(text))).toBe(hash);
  });
});

describe("partitionOf", () => {
  test("assigns each key one of the partitions", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (project, key) => {
        const partition = partitionOf(project, key);
        expect(Number.isInteger(partition) && partition >= 0 && partition < PARTITIONS).toBe(true);
      }),
    );
  });

  test("distributes keys about evenly", () => {
    const counts = Array.from({ length: PARTITIONS }, () => 0);
    for (let nth = 0; nth < 12_000; nth += 1) {
      const partition = partitionOf("proj_1", `v_${nth.toString(16)}`);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1_200);
  });
});
