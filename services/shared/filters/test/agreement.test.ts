import path from "node:path";

import {
  compileFilters,
  compilePredicate,
  type FilterFields,
  jsonMember,
  memberOf,
  OPERATORS,
  type RecordFields,
} from "@scrip/filters";
import { testDatabase } from "@scrip/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

const db = await testDatabase({
  schema: "records",
  role: "scrip_records",
  folder: path.join(import.meta.dirname, "fixture"),
});
afterAll(() => db[Symbol.asyncDispose]());

type Shelved = {
  readonly name: string | null;
  readonly size: bigint | null;
  readonly isOn: boolean | null;
  readonly made: number | null;
  readonly born: string | null;
  readonly tags: readonly string[] | null;
  readonly metadata: Readonly<Record<string, unknown>>;
};

const inSql: FilterFields = {
  named: {
    name: { type: "text", sql: "name" },
    size: { type: "number", sql: "size" },
    is_on: { type: "boolean", sql: "is_on" },
    made: { type: "date", sql: "made" },
    born: { type: "day", sql: "born" },
    tags: { type: "array", sql: "tags" },
  },
  prefixed: { "metadata.": jsonMember("metadata") },
};

const inMemory: RecordFields<Shelved> = {
  named: {
    name: { type: "text", read: ({ name }) => name },
    size: { type: "number", read: ({ size }) => size },
    is_on: { type: "boolean", read: ({ isOn }) => isOn },
    made: { type: "date", read: ({ made }) => made },
    born: { type: "day", read: ({ born }) => born },
    tags: { type: "array", read: ({ tags }) => tags },
  },
  prefixed: {
    "metadata.": (key) => ({ type: "json", read: ({ metadata }) => memberOf(metadata, key) }),
  },
};

const NOW = Date.parse("2024-02-29T22:30:00Z");
const DAY_MS = 86_400_000;

const words = [
  "",
  "a",
  "A",
  "ab",
  "Ba",
  "É",
  "é",
  "ΟΔΟΣ",
  "οδος",
  "İ",
  "i",
  "50%",
  "a_b",
  "\\",
  "1",
];
const dates = [
  "2024-02-29",
  "2024-02-30",
  "٢٠٢٤-02-29",
  "2023-02-29T12:00:00Z",
  "2024-02-29T23:59:60Z",
  "2024-02-29T24:00:00Z",
  "2024-02-29T22:30Z",
  "2024-02-29T22:30:00.000001Z",
  "2024-02-29T22:30:00",
  "2024-03-01T04:00:00.5+05:30",
  "2024-02-29T22:30:00-0300",
  "0000-01-01",
];
const word = fc.constantFrom(...words);
const number = fc.constantFrom(0, 1, 10, -3, 2.5, 0.1, 1e21, 1.5e-7, 50);
const instant = fc.oneof(
  fc.integer({ min: -800, max: 800 }).map((hours) => NOW + hours * 3_600_000),
  fc.integer({ min: -800, max: 800 }).map((days) => NOW + days * DAY_MS),
  fc.constantFrom(0, NOW, Date.parse("2023-02-28T12:00:00Z"), Date.parse("2020-02-29T12:00:00Z")),
);
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const leaf = fc.oneof(word, number, fc.boolean(), fc.constant(null), fc.constantFrom(...dates));
const json = fc.oneof(
  { weight: 4, arbitrary: leaf },
  fc.array(leaf, { maxLength: 3 }),
  fc.array(fc.array(leaf, { maxLength: 2 }), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom("b", "a", "é", "aa", '"'), leaf, { maxKeys: 3 }),
);
const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(arbitrary, { freq: 5 });
const record: fc.Arbitrary<Shelved> = fc.record({
  name: orNull(word),
  size: orNull(fc.bigInt({ min: -3n, max: 10n })),
  isOn: orNull(fc.boolean()),
  made: orNull(instant),
  born: orNull(instant.map(dayOf)),
  tags: orNull(fc.array(word, { maxLength: 3 })),
  metadata: fc.dictionary(fc.constantFrom("x", "y"), json, { noNullPrototype: true }),
});

const shelf = fc.sample(record, { numRuns: 300, seed: 2026 });

beforeAll(async () => {
  await db.query(
    `insert into record
     select 'p', ordinal, name, size, is_on, made, born,
            case when tags is not null
                 then array(select jsonb_array_elements_text(tags)) end, metadata
       from jsonb_to_recordset($1::jsonb) as r
            (ordinal int, name text, size numeric, is_on boolean, made timestamptz, born date,
             tags jsonb, metadata jsonb)`,
    [
      JSON.stringify(
        shelf.map(({ size, isOn, made, ...rest }, ordinal) => ({
          ...rest,
          ordinal,
          size: size === null ? null : String(size),
          is_on: isOn,
          made: made === null ? null : new Date(made).toISOString(),
        })),
      ),
    ],
  );
});

const any = ["$in", "$not_in", "$is", "$is_not", "$has_value", "$is_unknown"];
const ofText = ["$contains", "$not_contain", "$starts_with", "$ends_with"];
const ofNumbers = ["$more_than", "$less_than", "$more_than_equal", "$less_than_equal"];
const ofCounts = ["$count", "$count_less", "$count_more"];
const ofDates = OPERATORS.slice(OPERATORS.indexOf("$after"), OPERATORS.indexOf("$count"));

const digits = fc.constantFrom<string | number>(0, 1, "10", -3, 2.5, "0.10", "2.50", 50);
const days = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(6, "29", 31, 2024, 366));
const isoText = fc.oneof(
  instant.map((at) => new Date(at).toISOString()),
  instant.map(dayOf),
);
const jsonLike = fc.oneof(
  word,
  fc.constantFrom<string | boolean>(
    true,
    "false",
    "TRUE",
    "False",
    '{"b": 1}',
    "[1, 2]",
    "[[]]",
    "null",
  ),
  fc.constantFrom("1000000000000000000000", "0.00000015", ", ", ": "),
);

type Operators = readonly string[];
/** One field, with operators of its type and values that they can read. */
const onField = (name: string, ...kinds: (readonly [Operators, fc.Arbitrary<unknown>])[]) =>
  fc
    .array(
      fc.oneof(
        ...kinds.map(([operators, operand]) =>
          fc.tuple(
            fc.constantFrom(...operators),
            fc.oneof(operand, fc.array(operand, { minLength: 1, maxLength: 3 })),
          ),
        ),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((pairs): [string, unknown] => [name, { conditions: Object.fromEntries(pairs) }]);

const dated: (readonly [Operators, fc.Arbitrary<unknown>])[] = [
  [[...any, "$after", "$before"], isoText],
  [[...ofNumbers, ...ofDates.filter((one) => one !== "$after" && one !== "$before")], days],
];
const onJson = (name: string) =>
  onField(
    name,
    [[...any, ...ofText], jsonLike],
    [[...any, ...ofText, ...ofNumbers, ...ofCounts], digits],
    [["$after", "$before"], isoText],
    [dated[1]?.[0] ?? [], days],
  );
const meaningful = fc.oneof(
  onField("name", [[...any, ...ofText], word]),
  onField("size", [[...any, ...ofNumbers, ...ofCounts], digits]),
  onField("is_on", [any, fc.constantFrom<string | boolean>(true, "FALSE", "true", false)]),
  onField("made", ...dated),
  onField("born", ...dated),
  onField("tags", [[...any, "$contains", "$not_contain"], word], [ofCounts, digits]),
  onJson("metadata.x"),
  onJson("metadata.y"),
  onJson("metadata.toString"),
);
/** Most of these are rejected. */
const arbitrary = onField("name", [
  OPERATORS,
  fc.oneof(word, digits, isoText, fc.boolean(), fc.constant(null)),
]).chain(([, tree]) =>
  fc
    .constantFrom("name", "size", "is_on", "made", "born", "tags", "metadata.x", "nothing")
    .map((name): [string, unknown] => [name, tree]),
);

const filters = fc
  .tuple(
    fc.array(fc.oneof({ weight: 9, arbitrary: meaningful }, arbitrary), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.constantFrom("and", "OR"),
  )
  .map(([fields, junction]) => ({ ...Object.fromEntries(fields), junction }));
const weekday = fc.integer({ min: 0, max: 6 });
const zones = fc.constantFrom(
  "UTC",
  "Europe/Warsaw",
  "America/New_York",
  "Asia/Tokyo",
  "GMT+5",
  "CET",
  "PST8PDT",
);

test("matches the same records in SQL and in memory", async () => {
  const counts = { compared: 0, found: 0 };
  await fc.assert(
    fc.asyncProperty(filters, zones, weekday, async (tree, zone, firstWeekday) => {
      const values: unknown[] = ["p"];
      const time = { now: NOW, timeZone: zone, firstWeekday };
      const compiled = compileFilters(tree, { ...time, fields: inSql, values });
      const predicate = compilePredicate(tree, inMemory);
      if (compiled.kind === "violation" || predicate.kind === "violation") {
        expect(predicate).toEqual(compiled);
        return;
      }
      const { rows } = await db.query<{ id: number }>(
        `select id from record where project_id = $1 and ${compiled.text} order by id`,
        values,
      );
      const found = shelf.flatMap((each, id) => (predicate.matches(each, time) ? [id] : []));
      expect(found).toEqual(rows.map(({ id }) => id));
      counts.compared += 1;
      if (found.length > 0 && found.length < shelf.length) counts.found += 1;
    }),
    { numRuns: 1_500 },
  );
  // Not by rejecting all of them, nor by matching nothing or everything.
  expect(counts.compared).toBeGreaterThan(900);
  expect(counts.found).toBeGreaterThan(600);
});

test.each([
  ["$today", "", ["day", "instant"]],
  ["$is_days_ago", 1, ["yesterday"]],
  ["$this_month", "", ["day", "instant", "yesterday"]],
  ["$is_month", [1], ["old"]],
  ["$more_than_ago", 300, ["old"]],
  // Numbers as numbers, dates by their age.
  ["$more_than", 5, ["number", "old"]],
  ["$less_than", 5, ["day", "instant", "yesterday"]],
  ["$is", "TRUE", ["boolean"]],
])("reads metadata by its value: %s %o", async (operator, operand, expected) => {
  const values = Object.entries({
    day: "2024-02-29",
    instant: "2024-03-01T01:00:00Z",
    yesterday: "2024-02-28",
    old: "2023-01-31T00:00:00+01:00",
    number: 6,
    boolean: true,
    text: "2024-02-30",
    list: ["2024-02-29"],
  });
  // There it is still the 29th.
  const time = { now: Date.parse("2024-03-01T01:30:00Z"), timeZone: "America/New_York" };
  const found = await foundInMetadata({ [operator]: operand }, values, time);
  expect(found.inSql).toEqual(expected.toSorted());
  expect(found.inMemory).toEqual(expected.toSorted());
});

test.each([
  ["America/New_York", "$after", "2024-02-29", ["later"]],
  ["America/New_York", "$before", "2024-02-29", []],
  ["Asia/Tokyo", "$after", "2024-02-29", ["later"]],
  ["Asia/Tokyo", "$before", "2024-02-29", []],
  // An hour before and after the 29th begins there.
  ["America/New_York", "$after", "2024-02-29T04:00:00Z", ["day", "later"]],
  ["America/New_York", "$before", "2024-02-29T06:00:00Z", ["day"]],
  ["Asia/Tokyo", "$after", "2024-02-28T16:00:00Z", ["later"]],
  ["Asia/Tokyo", "$before", "2024-02-28T16:00:00Z", ["day"]],
])("reads a day as one of the calendar of %s: %s %s", async (zone, operator, operand, expected) => {
  const values = Object.entries({ day: "2024-02-29", later: "2024-03-01" });
  const time = { now: NOW, timeZone: zone };
  const found = await foundInMetadata({ [operator]: operand }, values, time);
  expect(found).toEqual({ inSql: expected, inMemory: expected });
});

const NOTHING = { name: null, size: null, isOn: null, made: null, born: null, tags: null };

/** The names of the values of metadata that meet conditions. */
async function foundInMetadata(
  conditions: Readonly<Record<string, unknown>>,
  values: readonly (readonly [name: string, value: unknown])[],
  time: { readonly now: number; readonly timeZone: string },
) {
  const filter = { "metadata.x": { conditions } };
  const bound: unknown[] = [JSON.stringify(values.map(([id, x]) => ({ id, metadata: { x } })))];
  const compiled = compileFilters(filter, { ...time, fields: inSql, values: bound });
  const predicate = compilePredicate(filter, inMemory);
  if (predicate.kind === "violation") throw new Error(predicate.text);
  const { rows } = await db.query<{ id: string }>(
    `select id from jsonb_to_recordset($1::jsonb) as r (id text, metadata jsonb) where ${compiled.text}`,
    bound,
  );
  const found = values.filter(([, x]) => predicate.matches({ ...NOTHING, metadata: { x } }, time));
  return {
    inSql: rows.map(({ id }) => id).toSorted(),
    inMemory: found.map(([id]) => id).toSorted(),
  };
}

test("formats JSON values as Postgres does", async () => {
  const { rows } = await db.query<{ id: number; text: string }>(
    "select id, metadata -> 'x' #>> '{}' as text from record where metadata ->> 'x' is not null",
  );
  expect(rows.length).toBeGreaterThan(50);
  for (const { id, text } of rows) {
    const predicate = compilePredicate({ "metadata.x": { conditions: { $is: text } } }, inMemory);
    if (predicate.kind === "violation") throw new Error(predicate.text);
    const matches = predicate.matches(shelf[id]!, { now: NOW, timeZone: "UTC" });
    expect(matches, text).toBe(true);
  }
});

test.each([
  ["CET", "2026-07-01T22:30:00Z", 2],
  ["WET", "2026-07-01T23:30:00Z", 2],
  ["PST", "2026-07-02T06:30:00Z", 1],
  ["BST", "2026-07-01T18:30:00Z", 2],
  ["US/Pacific-New", "2026-07-02T06:30:00Z", 1],
])(
  "knows the summer time of %s, a name that Postgres lacks or reads as an abbreviation",
  async (zone, at, day) => {
    const values: unknown[] = [at];
    const tree = { made: { conditions: { $is_day_of_month: day } } };
    const compiled = compileFilters(tree, { now: NOW, timeZone: zone, fields: inSql, values });
    if (compiled.kind === "violation") throw new Error(JSON.stringify(compiled));
    const { rows } = await db.query(
      `select ${compiled.text} as matches from (select $1::timestamptz as made) as record`,
      values,
    );
    expect(rows).toEqual([{ matches: true }]);
  },
);

test.each(["Asia/Kolkata", "Europe/Kyiv", "US/Pacific"])(
  "passes %s to Postgres as the project has it",
  (timeZone) => {
    const values: unknown[] = [];
    const tree = { made: { conditions: { $is_day_of_month: 1 } } };
    const compiled = compileFilters(tree, { now: NOW, timeZone, fields: inSql, values });
    expect(compiled.kind).not.toBe("violation");
    expect(values).toContain(timeZone);
  },
);
