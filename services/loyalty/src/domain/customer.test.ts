import { expect, test } from "vitest";

import { averageOf, changeOf, saysMore } from "./customer.ts";

test("only what was said changes when no mask tells what was sent", () => {
  expect(changeOf({ id: "cust_1", name: "Ada", metadata: { a: 1 } })).toEqual({
    fields: { name: "Ada" },
    metadata: { a: 1 },
  });
});

test("a field that was sent without a value is cleared", () => {
  expect(changeOf({ name: "Ada" }, ["name", "email", "source_id"]).fields).toEqual({
    name: "Ada",
    email: null,
  });
});

test("an address changes the parts that it names, and none clears them all", () => {
  expect(changeOf({ address: { city: "Paris", line1: "1 Rue" } }, ["address"]).fields).toEqual({
    city: "Paris",
    line_1: "1 Rue",
  });
  const cleared = { city: null, state: null, line_1: null, line_2: null, postal_code: null };
  expect(changeOf({}, ["address"]).fields).toEqual({ ...cleared, country: null });
  expect(changeOf({ country: "FR" }, ["address", "country"]).fields).toEqual({
    ...cleared,
    country: "FR",
  });
});

test("a country beside the address is the address's, which wins", () => {
  expect(changeOf({ country: "FR" }).fields).toEqual({ country: "FR" });
  expect(changeOf({ country: "FR", address: { country: "PL" } }).fields).toEqual({ country: "PL" });
});

test("birthday is the old name of birthdate, which wins", () => {
  expect(changeOf({ birthday: "1990-01-01" }).fields).toEqual({ birthdate: "1990-01-01" });
  expect(changeOf({ birthday: "1990-01-01", birthdate: "1991-02-02" }).fields).toEqual({
    birthdate: "1991-02-02",
  });
  expect(changeOf({ birthdate: "1991-02-02" }, ["birthday", "birthdate"]).fields).toEqual({
    birthdate: "1991-02-02",
  });
});

test("ids alone say nothing to store", () => {
  expect(saysMore({ id: "cust_1", sourceId: "ada" })).toBe(false);
  expect(saysMore({ sourceId: "ada", address: {}, metadata: {} })).toBe(false);
  expect(saysMore({ sourceId: "ada", address: { city: "" } })).toBe(true);
});

test("an average is rounded half up, and that of nothing is 0", () => {
  expect(averageOf(0n, 0n)).toBe(0n);
  expect(averageOf(5n, 2n)).toBe(3n);
  expect(averageOf(7n, 3n)).toBe(2n);
});
