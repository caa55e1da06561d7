import { expect, test } from "vitest";

import { compareInOrder, type ResourceOrder } from "./resource-order.ts";

const resources = [
  { id: "v_1", createdAt: 1, updatedAt: 5 },
  { id: "v_2", createdAt: 2, updatedAt: null },
  { id: "v_3", createdAt: 2, updatedAt: 4 },
];

test.each<[ResourceOrder, string[]]>([
  ["created_at", ["v_1", "v_2", "v_3"]],
  ["-created_at", ["v_3", "v_2", "v_1"]],
  ["updated_at", ["v_3", "v_1", "v_2"]],
  ["-updated_at", ["v_1", "v_3", "v_2"]],
])("%s sorts by the date, then by the id, and puts what never changed last", (order, ids) => {
  for (const input of [resources, resources.toReversed()]) {
    expect(input.toSorted(compareInOrder(order)).map(({ id }) => id)).toEqual(ids);
  }
});
