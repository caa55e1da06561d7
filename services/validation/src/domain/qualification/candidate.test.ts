import { expect, test } from "vitest";

import { type Candidate, candidateFilter, voucherFilters, requestedVouchers } from "./candidate.ts";

const is = (...values: readonly string[]) => ({ conditions: { $is: values } });
const sale = { category_id: is("cat_1") };
const time = { now: 0, timeZone: "UTC" };

const input = (candidate: Partial<Candidate> = {}): Candidate => ({
  object: "voucher",
  id: "CODE",
  resourceId: "v_1",
  createdAt: 0,
  categoryIds: [],
  campaignId: null,
  campaignType: null,
  voucherType: "DISCOUNT_VOUCHER",
  isPublishedToCustomer: false,
  ...candidate,
});

const matches = (
  filters: object,
  candidate: Partial<Candidate>,
  caseSensitiveCodes = true,
): boolean => {
  const compiled = candidateFilter(filters, { caseSensitiveCodes });
  if (compiled.kind === "violation") throw new Error(compiled.text);
  return compiled.matches(input(candidate), time);
};

const cases: readonly (readonly [string, object, Partial<Candidate>, boolean])[] = [
  ["a code", { code: is("CODE") }, {}, true],
  ["another code", { code: is("OTHER") }, {}, false],
  [
    "a tier, which has no code",
    { code: is("promo_1") },
    { object: "promotion_tier", id: "promo_1" },
    false,
  ],
  ["the id of a voucher", { resource_id: is("v_1") }, {}, true],
  ["a category of several", sale, { categoryIds: ["cat_0", "cat_1"] }, true],
  ["no category", sale, {}, false],
  [
    "no category, where none is request for",
    { category_id: { conditions: { $is_unknown: "" } } },
    {},
    true,
  ],
  ["a holder", { holder_role: is("OWNER") }, { isPublishedToCustomer: true }, true],
  ["nobody's", { holder_role: { conditions: { $is_not: ["OWNER"] } } }, {}, true],
];

test.each(cases)("filters match %s", (_what, filters, candidate, expected) => {
  expect(matches(filters, candidate)).toBe(expected);
});

test.each([
  ["exactly", true, "CODE", true],
  ["exactly", true, "Code", false],
  ["in any letter case", false, "Code", true],
  ["in any letter case", false, "other", false],
])(
  "filters compare codes %s (case-sensitive project: %s): %s matches CODE: %s",
  (_how, sensitive, code, expected) => {
    expect(matches({ code: is(code) }, { id: "CODE" }, sensitive)).toBe(expected);
    expect(matches({ code: { conditions: { $is_not: code } } }, { id: "CODE" }, sensitive)).toBe(
      !expected,
    );
  },
);

test("leaves filters of categories out of the voucher service's query", () => {
  const code = { code: is("CODE") };
  expect(voucherFilters(code)).toEqual(code);
  expect(voucherFilters({ ...sale, ...code })).toEqual(code);
  expect(voucherFilters({ junction: "OR", ...sale, ...code })).toEqual({});
  expect(voucherFilters({ junction: "or", ...code })).toEqual({ junction: "or", ...code });
});

test("looks vouchers up by code or id if the filters are restricted to them", () => {
  expect(requestedVouchers({})).toBeNull();
  expect(requestedVouchers(sale)).toBeNull();
  expect(requestedVouchers({ ...sale, code: is("A", "B") })).toEqual(["A", "B"]);
  expect(requestedVouchers({ resource_id: { conditions: { $in: "v_1" } } })).toEqual(["v_1"]);
  expect(requestedVouchers({ code: null, resource_id: { $is: "v_1" } })).toEqual(["v_1"]);
  expect(requestedVouchers({ code: { conditions: { $is_not: ["A"] } } })).toBeNull();
  expect(requestedVouchers({ junction: "or", code: is("A"), ...sale })).toBeNull();
});
