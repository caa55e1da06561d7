import type { Admin } from "kafkajs";
import { expect, test } from "vitest";

import { measureBacklogs, measureLag } from "./lag.ts";

const COMMITTED: Readonly<Record<string, Awaited<ReturnType<Admin["fetchOffsets"]>>>> = {
  reader: [{ topic: "orders", partitions: [{ partition: 0, offset: "7", metadata: null }] }],
  // A topic that it no longer reads.
  mover: [{ topic: "codes", partitions: [{ partition: 0, offset: "1", metadata: null }] }],
};

/** A broker whose topics have two partitions with the offsets 3 to 10. */
function recordingAdmin() {
  const fetched: string[] = [];
  const admin: Pick<Admin, "fetchOffsets" | "fetchTopicOffsets"> = {
    fetchOffsets: async ({ groupId }) => COMMITTED[groupId] ?? [],
    async fetchTopicOffsets(topic) {
      fetched.push(topic);
      return [0, 1].map((partition) => ({ partition, offset: "10", low: "3", high: "10" }));
    },
  };
  return { admin: admin as Admin, fetched };
}

test("measures the backlogs of groups with one request per topic", async () => {
  const { admin, fetched } = recordingAdmin();
  const topics = ["orders", "projects"];
  const groups = new Map(["reader", "mover", "new"].map((group) => [group, topics]));
  const backlogs = await measureBacklogs(admin, groups);
  expect(backlogs).toEqual(
    new Map([
      ["reader", 3 + 7 + 14],
      ["mover", 42],
      ["new", 28],
    ]),
  );
  expect(fetched.toSorted()).toEqual(["codes", "orders", "projects"]);
});

test("names the partitions that a group has not read to their end", async () => {
  const { admin } = recordingAdmin();
  expect(await measureLag(admin, "reader", ["orders"])).toEqual([
    { topic: "orders", partition: 0, behind: 3n },
    { topic: "orders", partition: 1, behind: 7n },
  ]);
});
