import fc from "fast-check";
import { expect, test } from "vitest";

import { PARTITIONS } from "../partition.ts";
import { assignPartitions } from "./group.ts";
import { keyOf } from "./log.ts";

test("assigns every partition of every topic to one member, evenly", () => {
  const topics = ["scrip.orders.v1", "scrip.redemptions.v1", "scrip.vouchers.v1"];
  const membersOf = fc.uniqueArray(
    fc.record({ member: fc.uuid(), topics: fc.subarray(topics, { minLength: 1 }) }),
    { minLength: 1, maxLength: 15, selector: ({ member }) => member },
  );
  fc.assert(
    fc.property(membersOf, (members) => {
      for (const topic of topics) {
        const readers = members.filter((member) => member.topics.includes(topic));
        const shares = readers.map((member) =>
          assignPartitions(members.toReversed(), member)
            .filter((partition) => partition.topic === topic)
            .map(keyOf),
        );
        expect(new Set(shares.flat()).size).toBe(readers.length === 0 ? 0 : PARTITIONS);
        expect(shares.flat()).toHaveLength(readers.length === 0 ? 0 : PARTITIONS);
        const sizes = shares.map((assigned) => assigned.length);
        if (sizes.length > 0)
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }
    }),
  );
});
