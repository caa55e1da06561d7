import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { compileFilters, type FilterFields, jsonMember, OPERATORS } from "./index.ts";

const fields: FilterFields = {
  named: {
    name: { type: "text", sql: "t.name" },
    size: { type: "number", sql: "t.size" },
    on: { type: "boolean", sql: "t.on", states: { $active: (now) => `t.ends > ${now()}` } },
    made: { type: "date", sql: "t.made" },
    tags: { type: "array", sql: "t.tags" },
  },
  prefixed: { "metadata.": jsonMember("t.metadata") },
};

const now = Date.parse("2026-11-21T12:00:00Z");

/** After one value of the statement itself. */
const compile = (filters: unknown, timeZone = "UTC") => {
  const values: unknown[] = ["own"];
  const compiled = compileFilters(filters, { fields, now, timeZone, values });
  return { ...compiled, values: values.slice(1) };
};

const span = (zone: string, filters: unknown) => compile(filters, zone).values;

const one = (field: string, conditions: unknown) => ({ [field]: { conditions } });

describe("compileFilters", () => {
  test("numbers its placeholders after those of the statement", () => {
    expect(compile(one("name", { $is: ["a", 1, true] }))).toEqual({
      kind: "sql",
      text: "((((t.name = any($2::text[])))))".slice(1, -1),
      values: [["a", "1", "true"]],
    });
  });

  test("matches everything without filters", () => {
    expect(compile({})).toMatchObject({ kind: "sql", text: "true" });
    expect(compile({ junction: "or" })).toMatchObject({ kind: "sql", text: "true" });
  });

  test("binds the present only where a state filter needs it", () => {
    expect(compile(one("on", { $active: "" }))).toMatchObject({
      text: expect.stringContaining("t.ends > $2::timestamptz"),
      values: [new Date(now)],
    });
  });

  test("binds keys of metadata as values", () => {
    const { text, values } = compile(one("metadata.a' or 1=1", { $is: "x" }));
    expect(text).not.toContain("1=1");
    expect(values[0]).toBe("a' or 1=1");
  });

  test("matches pattern characters literally", () => {
    expect(compile(one("name", { $contains: String.raw`50%_\ ` })).values).toEqual([
      [String.raw`%50\%\_\\ %`],
    ]);
  });

  test("starts days at midnight of the project, also when clocks change", () => {
    expect(span("Europe/Warsaw", one("made", { $today: "" }))).toEqual([
      new Date("2026-11-20T23:00:00Z"),
      new Date("2026-11-21T23:00:00Z"),
    ]);
    expect(span("Europe/Warsaw", one("made", { $this_year: "" }))).toEqual([
      new Date("2025-12-31T23:00:00Z"),
      new Date("2026-12-31T23:00:00Z"),
    ]);
    expect(span("America/New_York", one("made", { $after: "2026-07-01" }))).toEqual([
      [new Date("2026-07-01T04:00:00Z")],
    ]);
    expect(span("America/New_York", one("made", { $after: "2026-07-01T00:00:00+02:00" }))).toEqual([
      [new Date("2026-06-30T22:00:00Z")],
    ]);
  });

  test("reads a date-time without a zone as UTC", () => {
    for (const text of ["2026-07-01T00:00:00", "2026-07-01T00:00", "2026-07-01T00:00:00.000000"]) {
      expect(span("America/New_York", one("made", { $after: text }))).toEqual([
        [new Date("2026-07-01T00:00:00Z")],
      ]);
    }
  });

  test("accepts operators directly below a field, and ignores fields that are null", () => {
    expect(compile({ name: { $is: "Ada" }, size: null, junction: null })).toEqual(
      compile(one("name", { $is: "Ada" })),
    );
    expect(compile({ junction: "or", name: { $is: "Ada" }, size: null })).toEqual(
      compile({ junction: "or", name: { $is: "Ada" } }),
    );
    expect(compile({ name: null })).toEqual(compile({}));
    expect(compile({ "metadata.region": null })).toEqual(compile({}));
  });

  test.each([
    ["a list of filters", []],
    ["a text", "a"],
    ["nothing", null],
    ["conditions that are none", one("name", [])],
    ["empty conditions", one("name", {})],
    ["a field without conditions", { name: {} }],
    ["an unknown field that is null", { unknown: null }],
    ["a field of which not all keys are operators", { name: { $is: "Ada", value: 1 } }],
    ["a date-time of February 30", one("made", { $after: "2026-02-30T00:00:00" })],
    ["an own property of objects", one("constructor", { $is: 1 })],
    ["a prefix without a key", one("metadata.", { $is: 1 })],
    ["a list in a list", one("name", { $is: [["a"]] })],
    ["a fraction of days", one("made", { $is_days_ago: 1.5 })],
    ["negative days", one("made", { $more_than_ago: -1 })],
    ["a month beyond the year", one("made", { $is_month: 13 })],
    ["a number in words", one("size", { $more_than: "ten" })],
    ["too many values", one("name", { $in: Array.from({ length: 101 }, String) })],
  ])("rejects %s", (_name, filters) => {
    expect(compile(filters).kind).toBe("violation");
  });

  test("rejects an unknown operator with a list of all operators", () => {
    const compiled = compile(one("name", { $like: "a" }));
    if (compiled.kind !== "violation") throw new Error("not rejected");
    for (const operator of OPERATORS) expect(compiled.text).toContain(operator);
    expect(compiled.text).toContain(`{"conditions": {"<operator>": <value>}}`);
    expect(compiled.text).toContain("filters[<field>][conditions][<operator>][0]=<value>");
  });

  test("compiles or rejects any input, and never puts client text into the SQL", () => {
    const marker = "§";
    const text = fc.string({ maxLength: 8 }).map((rest) => `${marker}${rest}`);
    const operand = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.constant("2"));
    const conditions = fc.dictionary(
      fc.constantFrom<string>(...OPERATORS),
      fc.oneof(operand, fc.array(operand, { maxLength: 3 })),
      { minKeys: 1, maxKeys: 3 },
    );
    const name = fc.oneof(
      fc.constantFrom(...Object.keys(fields.named)),
      text.map((key) => `metadata.${key}`),
    );
    const tree = fc.dictionary(
      name,
      conditions.map((one_) => ({ conditions: one_ })),
      { maxKeys: 4 },
    );
    fc.assert(
      fc.property(tree, (filters) => {
        const compiled = compile(filters, "Asia/Kolkata");
        if (compiled.kind === "violation") return;
        expect(compiled.text).not.toContain(marker);
        // Every value is used, and every placeholder has its value.
        const used = new Set(
          [...compiled.text.matchAll(/\$(\d+)/g)].map(([, index]) => Number(index)),
        );
        expect([...used].toSorted((a, b) => a - b)).toEqual(
          compiled.values.map((_, index) => index + 2),
        );
      }),
      { numRuns: 500 },
    );
  });
});
