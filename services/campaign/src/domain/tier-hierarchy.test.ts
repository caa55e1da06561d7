import { expect, test } from "vitest";

import { assignHierarchies } from "./tier-hierarchy.ts";

test.each<[string, readonly (bigint | undefined)[], readonly bigint[]]>([
  ["1, 2, … without a request", [undefined, undefined], [1n, 2n]],
  ["the requested hierarchies", [4n, 2n], [4n, 2n]],
  [
    "one more than the highest so far",
    [undefined, 7n, undefined, 2n, undefined],
    [1n, 7n, 8n, 2n, 9n],
  ],
  ["1 after a hierarchy of 0", [0n, undefined], [0n, 1n]],
])("new tiers get %s", (_name, requested, assigned) => {
  expect(assignHierarchies(requested)).toEqual(assigned);
});
