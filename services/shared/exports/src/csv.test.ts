import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";

import { csvLines, guardText, headerOf } from "./csv.ts";

const cell = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.stringMatching(/^[=+\-@\t＝＋－＠,"\n\r' ]{0,5}$/),
  fc.constant("=cmd|' /C calc'!A0"),
);

test("any text is read back as it was, but for the apostrophe before formulas", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
      const guarded = rows.map((row) => row.map(guardText));
      // The parser discovers how records end, as programs do that do not know the file.
      expect(parse(csvLines(guarded))).toEqual(guarded);
      for (const text of guarded.flat()) expect(text).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
    }),
  );
});

test.each([
  ["id", "ID"],
  ["voucher_type", "Voucher Type"],
  ["customer_source_id", "Customer Source ID"],
  ["metadata.shoe_size", "Metadata shoe_size"],
])("the header of %s is %s", (field, header) => {
  expect(headerOf(field)).toBe(header);
});
