import { asAdmin } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { createGiftCard, createVoucher, newCode } from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { validations } = services;

const DAY_MS = 86_400_000;
const timestamp = (ms: number) => ({ seconds: BigInt(Math.floor(ms / 1_000)), nanos: 0 });
const order = { amount: 10_000n };

describe("ValidateVoucher", () => {
  test("returns the discount and the calculated order", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    expect(await validations.validateVoucher({ code, order }, call())).toMatchObject({
      valid: true,
      code,
      discount: { percentOff: "10" },
      order: { amount: 10_000n, totalDiscountAmount: 1_000n, totalAmount: 9_000n },
    });
  });

  test("returns the balance and the credits of a gift card", async () => {
    const call = newProject();
    const { code } = await createGiftCard(services, call(), 3_000n);
    const request = { code, order, gift: { credits: 1_000n } };
    expect(await validations.validateVoucher(request, call())).toMatchObject({
      valid: true,
      gift: { amount: 3_000n, balance: 3_000n, credits: 1_000n },
      order: { totalAmount: 9_000n },
    });
  });

  test("rejects an unknown code with not_found", async () => {
    const request = { code: newCode("NONE"), order };
    expect(await rejectionKey(validations.validateVoucher(request, newProject()()))).toBe(
      "not_found",
    );
  });

  test("rejects an unknown customer id with not_found", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const request = { code, order, customer: { id: "cust_000000000000000000" } };
    expect(await rejectionKey(validations.validateVoucher(request, call()))).toBe("not_found");
  });

  test("rejects an ambiguous tracking id", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const request = { code, order, customer: { sourceId: "ann" }, trackingId: "bob" };
    expect(await rejectionKey(validations.validateVoucher(request, call()))).toBe(
      "ambiguous_tracking_id",
    );
  });

  test.each([
    ["voucher_disabled", { active: false }],
    ["voucher_expired", { expirationDate: timestamp(Date.now() - DAY_MS) }],
    ["voucher_not_active", { startDate: timestamp(Date.now() + DAY_MS) }],
  ])("returns %s as the reason why the voucher is invalid", async (key, fields) => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), fields);
    expect(await validations.validateVoucher({ code, order }, call())).toMatchObject({
      valid: false,
      error: { key },
    });
  });

  test("returns quantity_exceeded after the last redemption", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    await validations.redeemVoucher({ code, order }, call());
    expect(await validations.validateVoucher({ code, order }, call())).toMatchObject({
      valid: false,
      error: { key: "quantity_exceeded" },
    });
  });

  test("returns gift_amount_exceeded if more credits are requested than the balance", async () => {
    const call = newProject();
    const { code } = await createGiftCard(services, call(), 500n);
    const request = { code, order, gift: { credits: 501n } };
    expect(await validations.validateVoucher(request, call())).toMatchObject({
      valid: false,
      error: { key: "gift_amount_exceeded" },
    });
  });

  test("returns the message of a violated validation rule", async () => {
    const call = newProject();
    const rule = await services.rules.createValidationRule(
      {
        rules: { "1": { name: "order.amount", conditions: { $more_than: [20_000] } } },
        error: { message: "Spend 200 first" },
      },
      call(),
    );
    const { id, code } = await createVoucher(services, call());
    await services.rules.createAssignment(
      { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: id },
      call(),
    );
    expect(await validations.validateVoucher({ code, order }, call())).toMatchObject({
      valid: false,
      error: { key: "redemption_rules_violated", error: { message: "Spend 200 first" } },
    });
    expect(
      await validations.validateVoucher({ code, order: { amount: 20_001n } }, call()),
    ).toMatchObject({ valid: true });
  });

  test("fails only for rules about a segment whose filter cannot be read", async () => {
    const call = newProject();
    const customer = { sourceId: "ann", metadata: { level: "gold" } };
    const voucherFor = async (segmentId: string, filter: object) => {
      await asAdmin(services.databaseUrl, (client) =>
        client.query(
          `insert into loyalty.segment (project_id, id, name, type, filter, created_at)
           values ($1, $2, 'some', 'passive', $3, now())`,
          [call().project.id, segmentId, JSON.stringify(filter)],
        ),
      );
      const rules = { "1": { name: "customer.segment", conditions: { $is_not: [segmentId] } } };
      const rule = await services.rules.createValidationRule({ rules }, call());
      const { id, code } = await createVoucher(services, call());
      await services.rules.createAssignment(
        { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: id },
        call(),
      );
      return code;
    };
    const newer = await voucherFor("seg_newer", { shoe_size: { conditions: { $is: 40 } } });
    const silver = await voucherFor("seg_silver", { "metadata.level": { conditions: { $is: 1 } } });
    const validate = (code: string) =>
      validations.validateVoucher({ code, order, customer }, call());
    expect(await validate(silver)).toMatchObject({ valid: true });
    expect(await rejectionKey(validate(newer))).toBe("internal_error");
  });

  test("returns the same result when repeated, because a validation has no side effects", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { redemption: { quantity: 1n } });
    const request = { code, order, customer: { sourceId: "ann" } };
    const first = await validations.validateVoucher(request, call());
    expect(await validations.validateVoucher(request, call())).toEqual(first);
    expect(first.trackingId).toMatch(/^track_/);
  });
});

describe("ValidateCode", () => {
  test("accepts an order with an amount only", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call());
    const client = call({ caller: { side: "client", id: "client_test" } });
    expect(await validations.validateCode({ code, amount: 2_000n }, client)).toMatchObject({
      valid: true,
      order: { amount: 2_000n, totalAmount: 1_800n },
    });
  });

  test("hides the internals of rules from client-side callers", async () => {
    const call = newProject();
    const rules = { "1": { name: "order.amount", conditions: { $more_than: [20_000] } } };
    const rule = await services.rules.createValidationRule({ rules }, call());
    const { id, code } = await createVoucher(services, call());
    await services.rules.createAssignment(
      { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: id },
      call(),
    );
    const client = call({ caller: { side: "client", id: "client_test" } });
    const request = { code, amount: 2_000n, options: { expand: ["explanation"] } };
    const result = await validations.validateCode(request, client);
    expect(result.valid).toBe(false);
    const steps = result.explanation?.steps ?? [];
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.map(({ conditions }) => conditions).filter(Boolean)).toEqual([]);
  });

  test("rejects an unknown code with not_found", async () => {
    expect(
      await rejectionKey(validations.validateCode({ code: newCode("NONE") }, newProject()())),
    ).toBe("not_found");
  });
});
