import { expect, test } from "vitest";

import { averageOf, customerChangeOf, hasChanges } from "./customer.ts";

test("changes only the fields with a value when there is no mask", () => {
  expect(customerChangeOf({ id: "cust_1", name: "Ada", metadata: { a: 1 } })).toEqual({
    fields: { name: "Ada" },
    metadata: { a: 1 },
  });
});

test("clears a field that was sent without a value", () => {
  expect(customerChangeOf({ name: "Ada" }, ["name", "email", "source_id"]).fields).toEqual({
    name: "Ada",
    email: null,
  });
});

test("changes the sent parts of an address, and a null address clears all of them", () => {
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

test("clears the parts of an address that were sent without a value", () => {
  const mask = ["address", "address.city", "address.line_1", "address.country"];
  expect(customerChangeOf({ address: { city: "Paris" } }, mask).fields).toEqual({
    city: "Paris",
    line_1: null,
    country: null,
  });
  expect(
    customerChangeOf({ country: "FR", address: {} }, ["country", "address", "address.country"])
      .fields,
  ).toEqual({ country: "FR" });
});

test("sets the country of the address, which takes precedence over the top-level country", () => {
  expect(customerChangeOf({ country: "FR" }).fields).toEqual({ country: "FR" });
  expect(customerChangeOf({ country: "FR", address: { country: "PL" } }).fields).toEqual({
    country: "PL",
  });
});

test("treats birthday as an alias of birthdate, which takes precedence", () => {
  expect(customerChangeOf({ birthday: "1990-01-01" }).fields).toEqual({ birthdate: "1990-01-01" });
  expect(customerChangeOf({ birthday: "1990-01-01", birthdate: "1991-02-02" }).fields).toEqual({
    birthdate: "1991-02-02",
  });
  expect(customerChangeOf({ birthdate: "1991-02-02" }, ["birthday", "birthdate"]).fields).toEqual({
    birthdate: "1991-02-02",
  });
});

test("finds no changes in ids alone", () => {
  expect(hasChanges({ id: "cust_1", sourceId: "ada" })).toBe(false);
  expect(hasChanges({ sourceId: "ada", address: {}, metadata: {} })).toBe(false);
  expect(hasChanges({ sourceId: "ada", address: { city: "" } })).toBe(true);
});

test("rounds an average half up, and returns 0 without values", () => {
  expect(averageOf(0n, 0n)).toBe(0n);
  expect(averageOf(5n, 2n)).toBe(3n);
  expect(averageOf(7n, 3n)).toBe(2n);
});
