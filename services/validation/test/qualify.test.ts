import { afterAll, describe, expect, test } from "vitest";

import {
  createGiftCard,
  createPromotionTier,
  createVoucher,
  newCode,
  TEN_PERCENT,
} from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { qualifications } = services;

const order = { amount: 10_000n };
const idsOf = ({ redeemables }: { redeemables?: { data: { id: string }[] } | undefined }) =>
  redeemables?.data.map(({ id }) => id) ?? [];

describe("Qualify", () => {
  test("lists vouchers and promotion tiers that apply, newest first, with their discounts", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    const voucher = await createVoucher(services, call({ now: start }));
    const tier = await createPromotionTier(services, call({ now: start + 10_000 }));
    const result = await qualifications.qualify({ order, scenario: "ALL" }, call());
    expect(result).toMatchObject({
      redeemables: {
        data: [
          { object: "promotion_tier", id: tier.id, order: { totalAmount: 9_000n } },
          { object: "voucher", id: voucher.code, order: { totalAmount: 9_000n } },
        ],
        total: 2n,
        hasMore: false,
      },
      order: { amount: 10_000n },
    });
  });

  test("marks categories as expanded, also without any", async () => {
    const call = newProject();
    await createVoucher(services, call());
    const first = async (expand: string[]) =>
      (await qualifications.qualify({ order, options: { expand } }, call())).redeemables?.data[0];
    expect(await first(["category"])).toMatchObject({ categories: [], expandsCategories: true });
    expect((await first([]))?.expandsCategories).toBeUndefined();
  });

  test("omits what does not apply", async () => {
    const call = newProject();
    await createVoucher(services, call(), { active: false });
    const valid = await createVoucher(services, call());
    expect(idsOf(await qualifications.qualify({ order }, call()))).toEqual([valid.code]);
  });

  test("continues behind the cursor of the page before", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    const codes: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { code } = await createVoucher(services, call({ now: start + index * 1_000 }));
      codes.unshift(code);
    }
    const first = await qualifications.qualify({ order, options: { limit: 3n } }, call());
    expect(idsOf(first)).toEqual(codes.slice(0, 3));
    expect(first.redeemables?.hasMore).toBe(true);
    const startingAfter = first.redeemables?.moreStartingAfter ?? "";
    const second = await qualifications.qualify(
      { order, options: { limit: 3n, startingAfter } },
      call(),
    );
    expect(idsOf(second)).toEqual(codes.slice(3));
    expect(second.redeemables).toMatchObject({ hasMore: false });
  });

  test("ranks by the discount with sorting rule BEST_DEAL", async () => {
    const call = newProject();
    const best = await createVoucher(services, call(), {
      discount: { ...TEN_PERCENT, percentOff: "50" },
    });
    const small = await createVoucher(services, call(), {
      discount: { ...TEN_PERCENT, percentOff: "5" },
    });
    const options = { sortingRule: "BEST_DEAL" };
    expect(idsOf(await qualifications.qualify({ order, options }, call()))).toEqual([
      best.code,
      small.code,
    ]);
  });

  test("filters candidates", async () => {
    const call = newProject();
    const wanted = await createVoucher(services, call());
    await createVoucher(services, call());
    const filters = { junction: "and", resource_id: { conditions: { $in: [wanted.id] } } };
    expect(idsOf(await qualifications.qualify({ order, options: { filters } }, call()))).toEqual([
      wanted.code,
    ]);
  });

  test("returns the assigned rules if the request expands them", async () => {
    const call = newProject();
    const rules = { "1": { name: "order.amount", conditions: { $more_than: [1] } } };
    const rule = await services.rules.createValidationRule({ rules }, call());
    const voucher = await createVoucher(services, call());
    await services.rules.createAssignment(
      { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: voucher.id },
      call(),
    );
    const options = { expand: ["redeemable", "validation_rules"] };
    const result = await qualifications.qualify({ order, options }, call());
    expect(result.redeemables?.data[0]?.validationRulesAssignments).toMatchObject({
      data: [{ ruleId: rule.id, validationStatus: "VALID" }],
      total: 1n,
    });
  });

  test("hides gift cards of others from client-side callers", async () => {
    const call = newProject();
    const gift = await createGiftCard(services, call(), 500n);
    const options = { filters: { junction: "and", code: { conditions: { $is: [gift.code] } } } };
    expect(idsOf(await qualifications.qualify({ order, options }, call()))).toEqual([gift.code]);
    const client = call({ caller: { side: "client", id: "client_test" } });
    expect(idsOf(await qualifications.qualify({ order, options }, client))).toEqual([]);
  });

  test("rejects a malformed cursor, filter and an unknown customer id", async () => {
    const call = newProject();
    const qualify = (request: Parameters<typeof qualifications.qualify>[0]) =>
      rejectionKey(qualifications.qualify(request, call()));
    expect(await qualify({ options: { startingAfter: newCode() } })).toBe("invalid_payload");
    expect(await qualify({ options: { filters: { nonsense: { conditions: {} } } } })).toBe(
      "invalid_payload",
    );
    expect(await qualify({ customer: { id: "cust_000000000000000000" } })).toBe("not_found");
  });

  test("returns the same result when repeated, because a qualification has no side effects", async () => {
    const call = newProject();
    await createVoucher(services, call());
    const request = { order, customer: { sourceId: "ann" } };
    const first = await qualifications.qualify(request, call());
    expect(await qualifications.qualify(request, call())).toEqual(first);
  });
});
