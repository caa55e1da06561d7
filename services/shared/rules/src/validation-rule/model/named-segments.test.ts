import { expect, test } from "vitest";

import { buildRule } from "../../../test/builders.ts";
import { namedSegments } from "./named-segments.ts";

const segment = (...ids: readonly string[]) => ({
  name: "customer.segment",
  conditions: { $is: ids },
});

test("namedSegments returns the segments of all conditions on the segments of the customer", () => {
  const rule = buildRule({
    1: segment("seg_1", "seg_2"),
    2: { name: "customer.metadata", property: "level", conditions: { $is: ["seg_3"] } },
    3: { name: "customer.segment", conditions: { $not_in: ["seg_4"] } },
  });
  expect(namedSegments(rule)).toEqual(["seg_1", "seg_2", "seg_4"]);
});
