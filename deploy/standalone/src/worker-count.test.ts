import { expect, test } from "vitest";

import { workersOfMachine } from "./worker-count.ts";

const GIB = 1024 ** 3;
const LARGE = { processors: 16, memoryBytes: 64 * GIB };

test.each<[string, Partial<typeof LARGE>, number]>([
  ["half of the processors", {}, 8],
  ["one below four processors", { processors: 3 }, 1],
  ["two for four or five processors", { processors: 5 }, 2],
  ["64 at most", { processors: 256, memoryBytes: 512 * GIB }, 64],
  ["one per GiB of memory", { memoryBytes: 3.9 * GIB }, 3],
  ["one in a container with half a GiB", { memoryBytes: GIB / 2 }, 1],
])("the default number of workers: %s", (_, machine, expected) => {
  expect(workersOfMachine({ ...LARGE, ...machine })).toBe(expected);
});
