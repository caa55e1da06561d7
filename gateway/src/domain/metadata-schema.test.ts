import type { Definition } from "@scrip/metadata";
import { expect, test } from "vitest";

import { mergeDefinitions } from "./metadata-schema.ts";

const defined = (definition: Partial<Definition> & Pick<Definition, "type">): Definition => ({
  array: false,
  optional: false,
  deleted: false,
  ...definition,
});

test("replaces the definitions that were sent and retains the others", () => {
  const stored = { a: defined({ type: "string", eq: ["x"] }), b: defined({ type: "number" }) };
  const sent = { a: defined({ type: "string" }), c: defined({ type: "date" }) };
  expect(mergeDefinitions(stored, sent)).toEqual({ merged: { ...stored, ...sent } });
});

test("rejects a change of type, also of a deleted definition", () => {
  const stored = { a: defined({ type: "string", deleted: true }) };
  expect(mergeDefinitions(stored, { a: defined({ type: "number" }) })).toEqual({
    fault: "Property .properties.a.type must stay string: the type of a definition never changes",
  });
});

test("allows at most 100 definitions including deleted ones", () => {
  const many = (count: number, deleted: boolean, prefix: string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `${prefix}${index}`,
        defined({ type: "string", deleted }),
      ]),
    );
  expect(mergeDefinitions(many(60, true, "a"), many(40, false, "b"))).toHaveProperty("merged");
  expect(mergeDefinitions(many(60, true, "a"), many(41, false, "b"))).toEqual({
    fault: "Property .properties must NOT have more than 100 items",
  });
});

const IMPOSSIBLE: readonly (readonly [
  definition: Partial<Definition> & Pick<Definition, "type">,
  fault: string,
])[] = [
  [{ type: "nested" }, " should have required property 'object_type'"],
  [{ type: "object", objectType: "x" }, ".object_type is only for type nested"],
  [{ type: "boolean", eq: [true] }, ".eq is not for type boolean"],
  [{ type: "number", eq: [1, "2"] }, ".eq[1] must be a number"],
  [{ type: "date", ne: ["tomorrow"] }, ".ne[0] must be a date"],
  [{ type: "string", lt: "b" }, ".lt is not for type string"],
  [{ type: "number", gte: "1" }, ".gte must be a number"],
  [{ type: "number", gt: 1, lt: 1 }, " has bounds that no value meets"],
  [{ type: "number", gt: 1, lte: 1 }, " has bounds that no value meets"],
  [{ type: "date", gte: "2024-01-02", lte: "2024-01-01" }, " has bounds that no value meets"],
  [{ type: "number", minLength: 1 }, ".min_length is not for type number"],
  [{ type: "string", minLength: 3, maxLength: 2 }, " has lengths that no value meets"],
  [{ type: "string", exactLength: 3, maxLength: 2 }, " has lengths that no value meets"],
];

test.each(IMPOSSIBLE)("rejects %o", (definition, fault) => {
  expect(mergeDefinitions({}, { key: defined(definition) })).toEqual({
    fault: `Property .properties.key${fault}`,
  });
});

test("accepts bounds that only one value meets", () => {
  const definition = defined({ type: "number", gte: 1, lte: 1 });
  expect(mergeDefinitions({}, { key: definition })).toEqual({ merged: { key: definition } });
});
