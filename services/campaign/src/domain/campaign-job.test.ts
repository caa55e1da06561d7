import { expect, test } from "vitest";

import { statusesAfterJob } from "./campaign-job.ts";

const done = { creation: "DONE", generation: "DONE" };
const modifying = { creation: "MODIFYING", generation: "MODIFYING" };

test.each([
  ["is done after its codes", ["IN_PROGRESS", "GENERATE", null], done],
  ["is done after an update", ["MODIFYING", "UPDATE", null], done],
  ["shows the update that waits", ["IN_PROGRESS", "GENERATE", "UPDATE"], modifying],
  [
    "shows the addition that waits",
    ["MODIFYING", "UPDATE", "GENERATE"],
    { creation: "DONE", generation: "IN_PROGRESS" },
  ],
  [
    "is not repaired by an addition",
    ["FAILED", "GENERATE", null],
    { creation: "FAILED", generation: "FAILED" },
  ],
  ["is repaired by an update", ["FAILED", "UPDATE", null], done],
] as const)("a campaign %s", (_name, [before, ended, next], statuses) => {
  expect(statusesAfterJob(before, { ended, next })).toEqual(statuses);
});
