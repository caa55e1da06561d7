import { describe, expect, test } from "vitest";

import { textArray, timestampArray } from "./arrays.ts";
import {
  batchOf,
  buildStatement,
  column,
  columnNames,
  excludedAssignments,
  insertInto,
  rowKeyPart,
  rowOf,
  summedAssignments,
  updateOf,
} from "./column-table.ts";

type Coupon = {
  readonly id: string;
  readonly note: string | null;
  readonly uses: bigint | null;
  readonly createdAt: number;
};

const coupons = {
  id: column.text(({ id }: Coupon) => id),
  note: column.sparseText(({ note }: Coupon) => note),
  uses: column.int8(({ uses }: Coupon) => uses),
  created_at: column.timestamp(({ createdAt }: Coupon) => createdAt),
};

const ONE: Coupon = { id: "a", note: null, uses: 2n, createdAt: 1000 };

describe("batchOf", () => {
  test("lists columns, casts and values in one order", () => {
    const insert = buildStatement({
      name: "insert-coupons",
      parts: { coupons: batchOf(coupons) },
      text: ({ coupons: one }) =>
        `insert into coupon (${one.columns}) select * from ${one.rows("one")}`,
    });

    expect(insert({ coupons: [ONE] })).toMatchObject({
      name: "insert-coupons",
      text: `insert into coupon (id, note, uses, created_at) select * from unnest($1::text[], $2::text[], $3::int8[], $4::timestamptz[]) as one (id, note, uses, created_at)`,
      values: [textArray(["a"]), null, expect.anything(), timestampArray([1000])],
    });
  });

  test("sends a sparse column as soon as one row has a value", () => {
    const [, notes] = batchOf(coupons).values([ONE, { ...ONE, note: "n" }]);

    expect(notes).toEqual(textArray([null, "n"]));
  });

  test("carries JSON as text and casts it", () => {
    const { rows } = batchOf({ data: column.json(({ note }: Coupon) => note) }).sql(3);

    expect(rows("t")).toBe("unnest($3::text[]::jsonb[]) as t (data)");
  });

  test("rejects a column that only single rows can have", () => {
    expect(() => batchOf({ days: column.single("smallint[]", () => [1]) })).toThrow(
      "column days of type smallint[] cannot be part of a batch",
    );
  });
});

describe("rowOf", () => {
  test("returns values, assignments and single values with their types", () => {
    const { columns, values, assignments, condition, value } = rowOf(coupons).sql(1);

    expect(columns).toBe("id, note, uses, created_at");
    expect(values).toBe("$1::text, $2::text, $3::int8, $4::timestamptz");
    expect(assignments).toBe(
      "id = $1::text, note = $2::text, uses = $3::int8, created_at = $4::timestamptz",
    );
    expect(condition).toBe(
      "id = $1::text and note = $2::text and uses = $3::int8 and created_at = $4::timestamptz",
    );
    expect(value("uses")).toBe("$3::int8");
    expect(() => value("used")).toThrow("there is no column used");
  });

  test("sends instants as dates", () => {
    expect(rowOf(coupons).values(ONE)).toEqual(["a", null, 2n, new Date(1000)]);
  });
});

test("lists the columns of a table for lists and for conflicts", () => {
  const { id: _, ...editable } = coupons;

  expect(columnNames(coupons)).toBe("id, note, uses, created_at");
  expect(columnNames(editable, "c")).toBe("c.note, c.uses, c.created_at");
  expect(excludedAssignments(editable)).toBe(
    "note = excluded.note, uses = excluded.uses, created_at = excluded.created_at",
  );
  expect(summedAssignments({ uses: coupons.uses }, "c")).toBe("uses = c.uses + excluded.uses");
});

describe("buildStatement", () => {
  test("numbers the parameters of its parts one after the other", () => {
    const update = buildStatement({
      parts: {
        key: rowKeyPart,
        change: rowOf({ uses: column.int8(({ uses }: Coupon) => uses) }),
      },
      text: ({ key, change }) => `update coupon set ${change.assignments} where ${key.condition}`,
    });

    const statement = update({ key: { projectId: "p", id: "a" }, change: ONE });

    expect(statement).toEqual({
      text: "update coupon set uses = $3::int8 where project_id = $1::text and id = $2::text",
      values: ["p", "a", 2n],
    });
  });

  test("keeps the text constant, so that it can be prepared by its name", () => {
    const select = buildStatement({
      name: "select-coupons",
      parts: { coupons: batchOf(coupons) },
      text: ({ coupons: one }) => `select id from ${one.rows("one")}`,
    });

    expect(select({ coupons: [] }).text).toBe(select({ coupons: [ONE, ONE] }).text);
  });
});

test("inserts and updates one row by project and id", () => {
  const { id: _, ...others } = coupons;

  expect(insertInto("coupon", others)("p", ONE)).toEqual({
    text: "insert into coupon (project_id, id, note, uses, created_at) values ($1::text, $2::text, $3::text, $4::int8, $5::timestamptz)",
    values: ["p", "a", null, 2n, new Date(1000)],
  });
  expect(updateOf("coupon", { uses: coupons.uses })("p", ONE)).toEqual({
    text: "update coupon set uses = $3::int8 where project_id = $1::text and id = $2::text",
    values: ["p", "a", 2n],
  });
});
