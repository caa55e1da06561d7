import { expect, test } from "vitest";

import { averageOf, customerChangeOf, hasChanges } from "./customer.ts";

test("only what was said changes when no mask tells what was sent", () => {
  expect(customerChangeOf({ id: "cust_1", name: "Ada", metadata: { a: 1 } })).toEqual({
    fields: { name: "Ada" },
    metadata: { a: 1 },
  });
});

test("a field that was sent without a value is cleared", () => {
  expect(customerChangeOf({ name: "Ada" }, ["name", "email", "source_id"]).fields).toEqual({
    name: "Ada",
    email: null,
  });
});

test("an address changes the parts that it names, and none clears them all", () => {
  expect(
    customerChangeOf({ address: { city: "Paris", line1: "1 Rue" } }, ["address"]).fields,
  ).toEqual({
    city: "Paris",
    line_1: "1 Rue",
  });
  const cleared = { city: null, state: null, line_1: null, line_2: null, postal_code: null };
  expect(customerChangeOf({}, ["address"]).fields).toEqual({ ...cleared, country: null });
  expect(customerChangeOf({ country: "FR" }, ["address", "country"]).fields).toEqual({
    ...cleared,
    country: "FR",
  });
});

test("a country beside the address is the address's, which wins", () => {
  expect(customerChangeOf({ country: "FR" }).fields).toEqual({ country: "FR" });
  expect(customerChangeOf({ country: "FR", address: { country: "PL" } }).fields).toEqual({
    country: "PL",
  });
});

test("birthday is the old name of birthdate, which wins", () => {
  expect(customerChangeOf({ birthday: "1990-01-01" }).fields).toEqual({ birthdate: "1990-01-01" });
  expect(customerChangeOf({ birthday: "1990-01-01", birthdate: "1991-02-02" }).fields).toEqual({
    birthdate: "1991-02-02",
  });
  expect(customerChangeOf({ birthdate: "1991-02-02" }, ["birthday", "birthdate"]).fields).toEqual({
    birthdate: "1991-02-02",
  });
});

test("ids alone say nothing to store", () => {
  expect(hasChanges({ id: "cust_1", sourceId: "ada" })).toBe(false);
  expect(hasChanges({ sourceId: "ada", address: {}, metadata: {} })).toBe(false);
  expect(hasChanges({ sourceId: "ada", address: { city: "" } })).toBe(true);
});

test("an average is rounded half up, and that of nothing is 0", () => {
  expect(averageOf(0n, 0n)).toBe(0n);
  expect(averageOf(5n, 2n)).toBe(3n);
  expect(averageOf(7n, 3n)).toBe(2n);
});
