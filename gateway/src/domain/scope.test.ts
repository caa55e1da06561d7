import { expect, test } from "vitest";

import { grantScopes, coversScope, scopeSet } from "./scope.ts";

const server = { kind: "server", scopes: [] } as const;
const client = { kind: "client", scopes: [] } as const;

test.each([
  ["everything of its side", server, "api vouchers", ["api", "vouchers"]],
  ["client scopes for a backend that hands them out", server, "client_api", ["client_api"]],
  ["each value once, as it was sent", server, "SKUs vouchers SKUs", ["SKUs", "vouchers"]],
  ["both spellings of skus", server, "skus", ["skus"]],
  ["client scopes", client, "client_validations", ["client_validations"]],
] as const)("an unrestricted key grants %s", (_name, key, asked, granted) => {
  expect(grantScopes(key, asked)).toEqual(granted);
});

test.each([
  ["unknown values", server, "everything"],
  ["values separated by commas", server, "vouchers,campaigns"],
  ["nothing at all", server, "  "],
  ["a known and an unknown value", server, "vouchers nope"],
  ["server scopes of a client key", client, "api"],
  ["what the key was not given", { kind: "server", scopes: ["vouchers"] }, "vouchers campaigns"],
  ["more than one resource of a narrow key", { kind: "server", scopes: ["vouchers"] }, "api"],
] as const)("a key does not grant %s", (_name, key, asked) => {
  expect(grantScopes(key, asked)).toBeUndefined();
});

test("a key with the scope of a whole side grants its individual scopes", () => {
  expect(grantScopes({ kind: "server", scopes: ["api"] }, "vouchers")).toEqual(["vouchers"]);
  expect(grantScopes({ kind: "server", scopes: ["SKUs"] }, "skus")).toEqual(["skus"]);
});

test("a token covers only the scopes that it has", () => {
  expect(coversScope(scopeSet("vouchers"), "vouchers")).toBe(true);
  expect(coversScope(scopeSet("SKUs"), "skus")).toBe(true);
  expect(coversScope(scopeSet("api"), "vouchers")).toBe(true);
  expect(coversScope(scopeSet("client_api"), "client_validations")).toBe(true);
  expect(coversScope(scopeSet("vouchers"), "validations")).toBe(false);
  expect(coversScope(scopeSet("client_api"), "vouchers")).toBe(false);
  expect(coversScope(scopeSet("api"), "client_validations")).toBe(false);
});
