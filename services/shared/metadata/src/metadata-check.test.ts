import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { metadataFaults } from "./metadata-check.ts";
import type { Definition, MetadataSchema } from "./metadata-types.ts";

const defined = (definition: Partial<Definition> & Pick<Definition, "type">): Definition => ({
  array: false,
  optional: false,
  deleted: false,
  ...definition,
});

const schemaOf = (
  relatedObject: string,
  properties: MetadataSchema["properties"],
  allowDefinedOnly = false,
): MetadataSchema => ({
  id: `ms_${relatedObject}`,
  relatedObject,
  properties,
  allowDefinedOnly,
  createdAt: new Date(0),
  updatedAt: null,
});

const schemasOf = (...schemas: readonly MetadataSchema[]) =>
  new Map(schemas.map((schema) => [schema.relatedObject, schema]));

type Scenario = {
  readonly definition: Partial<Definition> & Pick<Definition, "type">;
  readonly good: readonly JsonValue[];
  readonly bad: readonly (readonly [value: JsonValue, wrong: string, quoted?: string])[];
};

const VALUES: readonly Scenario[] = [
  { definition: { type: "string" }, good: ["", "x"], bad: [[5, "must be a string"]] },
  {
    definition: { type: "number" },
    good: [0, -1.5],
    bad: [
      ["EUR", "must be a number"],
      ["5", "must be a number"],
    ],
  },
  { definition: { type: "boolean" }, good: [true], bad: [["true", "must be a boolean"]] },
  { definition: { type: "object" }, good: [{ a: [] }], bad: [[[], "must be an object"]] },
  {
    definition: { type: "date" },
    good: ["2024-02-29"],
    bad: [
      ["2023-02-29", "must be a date"],
      ["2024-02-29T00:00:00Z", "must be a date"],
    ],
  },
  {
    definition: { type: "datetime" },
    good: ["2024-02-29T12:30:00Z", "2024-02-29T12:30:00.123+02:00"],
    bad: [
      ["2024-02-29", "must be a datetime"],
      ["2024-02-30T12:30:00Z", "must be a datetime"],
    ],
  },
  {
    definition: { type: "geopoint" },
    good: ["48.858372,2.294481", "-90,-180", [48.858372, 2.294481], [90, -20]],
    bad: [
      [[91, 0], "must be a geopoint"],
      [[1], "must be a geopoint"],
      [["1", "2"], "must be a geopoint"],
      ["91,0", "must be a geopoint"],
      ["0,181", "must be a geopoint"],
    ],
  },
  {
    definition: { type: "image_url" },
    good: ["https://shop.example/a.png"],
    bad: [
      ["shop.example/a.png", "must be an image URL"],
      ["javascript:alert(1)", "must be an image URL"],
    ],
  },
  {
    definition: { type: "string", array: true },
    good: [[], ["a", "b"]],
    bad: [["a", "must be an array"]],
  },
  {
    definition: { type: "string", eq: ["a", "b"] },
    good: ["a"],
    bad: [["c", "must be one of: a, b"]],
  },
  { definition: { type: "number", ne: [3] }, good: [4], bad: [[3, "must be none of: 3"]] },
  {
    definition: { type: "datetime", eq: ["2024-01-01T12:00:00Z"] },
    good: ["2024-01-01T13:00:00+01:00"],
    bad: [["2024-01-01T12:00:01Z", "must be one of: 2024-01-01T12:00:00Z"]],
  },
  {
    definition: { type: "number", gt: 1, lte: 5 },
    good: [1.1, 5],
    bad: [
      [1, "must be > 1"],
      [5.1, "must be <= 5"],
    ],
  },
  {
    definition: { type: "date", gte: "2024-01-01", lt: "2024-02-01" },
    good: ["2024-01-01", "2024-01-31"],
    bad: [
      ["2023-12-31", "must be >= 2024-01-01"],
      ["2024-02-01", "must be < 2024-02-01"],
    ],
  },
  {
    definition: { type: "string", minLength: 2, maxLength: 3 },
    good: ["ab", "😀😀😀"],
    bad: [
      ["a", "must NOT have fewer than 2 characters"],
      ["abcd", "must NOT have more than 3 characters"],
    ],
  },
  {
    definition: { type: "string", exactLength: 2 },
    good: ["ab"],
    bad: [["abc", "must have exactly 2 characters"]],
  },
];

describe("a value", () => {
  const check = (definition: Scenario["definition"], value: JsonValue) =>
    metadataFaults(schemasOf(schemaOf("voucher", { key: defined(definition) })), "voucher", {
      metadata: { key: value },
      isComplete: true,
    });

  test.each(VALUES)("is checked against $definition", ({ definition, good, bad }) => {
    for (const value of good) expect(check(definition, value), JSON.stringify(value)).toEqual([]);
    for (const [value, wrong] of bad) {
      const quoted = typeof value === "string" ? value : JSON.stringify(value);
      expect(check(definition, value)).toEqual([`key: ${wrong} (actual value is '${quoted}')`]);
    }
  });

  test("of any type is checked without throwing", () => {
    const definition = fc.constantFrom(...VALUES.map((scenario) => scenario.definition));
    fc.assert(
      fc.property(definition, fc.jsonValue(), (each, value) => {
        const json = JSON.parse(JSON.stringify(value)) as JsonValue;
        for (const fault of check(each, json)) expect(fault).toMatch(/^key(\[\d+\])?: must /);
      }),
    );
  });

  test("that is long is shortened in details", () => {
    const [fault] = check({ type: "number" }, "x".repeat(10_000));
    expect(fault).toBe(`key: must be a number (actual value is '${"x".repeat(100)}…')`);
  });

  test("in a list is identified by its index", () => {
    expect(check({ type: "number", array: true }, [1, "a", 2, null])).toEqual([
      "key[1]: must be a number (actual value is 'a')",
      "key[3]: must be a number (actual value is 'null')",
    ]);
  });
});

describe("metadata", () => {
  const schemas = schemasOf(
    schemaOf("customer", {
      city: defined({ type: "string" }),
      age: defined({ type: "number", optional: true }),
      old: defined({ type: "number", deleted: true }),
      home: defined({ type: "nested", objectType: "address", optional: true }),
    }),
    schemaOf("address", { street: defined({ type: "string" }) }, true),
  );
  const check = (resource: string, metadata: JsonObject | undefined, isComplete: boolean) =>
    metadataFaults(schemas, resource, { metadata, isComplete });

  test("must have its required keys on creation only", () => {
    expect(check("customer", undefined, true)).toEqual(["city: must be present"]);
    expect(check("customer", { age: 3 }, true)).toEqual(["city: must be present"]);
    expect(check("customer", { age: 3 }, false)).toEqual([]);
    expect(check("customer", { city: null }, false)).toEqual(["city: must be present"]);
    expect(check("customer", { city: "Rome", age: null }, true)).toEqual([]);
  });

  test("may have undefined keys unless the schema allows defined keys only", () => {
    expect(check("customer", { city: "Rome", old: "x", new: 1 }, true)).toEqual([]);
    expect(check("address", { street: "x", zip: 1 }, true)).toEqual([
      "zip: must be defined in the schema",
    ]);
  });

  test("requires nested objects to be complete", () => {
    expect(check("customer", { home: { street: "x" } }, false)).toEqual([]);
    expect(check("customer", { home: { zip: 1 } }, false)).toEqual([
      "home.street: must be present",
      "home.zip: must be defined in the schema",
    ]);
    expect(check("customer", { home: "x" }, false)).toEqual([
      "home: must be an object (actual value is 'x')",
    ]);
  });

  test("is not checked for a resource without a schema", () => {
    expect(check("voucher", { anything: [] }, true)).toEqual([]);
  });

  test("is not confused by keys of Object.prototype", () => {
    const tricky = schemasOf(schemaOf("voucher", { toString: defined({ type: "string" }) }, true));
    const faults = (metadata: JsonObject) =>
      metadataFaults(tricky, "voucher", { metadata, isComplete: true });
    expect(faults({})).toEqual(["toString: must be present"]);
    expect(faults({ toString: "x", valueOf: 1 })).toEqual([
      "valueOf: must be defined in the schema",
    ]);
  });
});
