import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("discounts with a formula (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const formula = 'IF(ORDER_AMOUNT > 300; CUSTOMER_METADATA("age") / 2; 5)';
  const percent = { type: "PERCENT", percent_off: 10, percent_off_formula: formula };

  test("store, return and update the formula", async () => {
    const code = await createVoucher(percent);
    const read = await api.get(`/v1/vouchers/${code}`);
    expect(read.body["discount"]).toMatchObject(percent);
    expect(read.body["discount"]).not.toHaveProperty("is_dynamic");
    const changed = await api.put(`/v1/vouchers/${code}`, {
      discount: { type: "AMOUNT", amount_off: 100, amount_off_formula: "ORDER_AMOUNT / 2" },
    });
    expect([changed.status, changed.text]).toEqual([200, changed.text]);
    expect(await validate(code, { order: { amount: 5000 } })).toMatchObject({
      discount: { amount_off: 2500, amount_off_formula: "ORDER_AMOUNT / 2", is_dynamic: true },
      order: { discount_amount: 2500 },
    });
  });

  test("accept a formula without a static value, and keep the stored value", async () => {
    const code = await createVoucher({ type: "PERCENT", percent_off: 10 });
    const formulaFields = {
      type: "PERCENT",
      percent_off_formula: "ORDER_AMOUNT / 100",
      amount_limit: 500,
    };
    const changed = await api.put(`/v1/vouchers/${code}`, {
      type: "DISCOUNT_VOUCHER",
      discount: { ...formulaFields, effect: "APPLY_TO_ORDER" },
    });
    expect(changed.body["discount"]).toMatchObject({ ...formulaFields, percent_off: 10 });
    const other = await api.put(`/v1/vouchers/${code}`, {
      discount: { type: "AMOUNT", amount_off_formula: "ORDER_AMOUNT / 100" },
    });
    expect(other.body).toMatchObject({
      key: "invalid_voucher",
      details: expect.stringContaining(".discount.amount_off is required"),
    });
  });

  test("use the formula's value, or the static value when the formula has no result", async () => {
    const code = await createVoucher(percent);
    const customer = { source_id: newCode("buyer"), metadata: { age: 31 } };
    expect(await validate(code, { order: { amount: 40_000 }, customer })).toMatchObject({
      valid: true,
      discount: { percent_off: 15.5, percent_off_formula: formula, is_dynamic: true },
      order: { discount_amount: 6200, total_amount: 33_800 },
    });
    expect(await validate(code, { order: { amount: 40_000 } })).toMatchObject({
      discount: { percent_off: 10, is_dynamic: false },
      order: { discount_amount: 4000 },
    });
    // Only the branch that is evaluated needs the customer.
    expect(await validate(code, { order: { amount: 10_000 } })).toMatchObject({
      discount: { percent_off: 5, is_dynamic: true },
      order: { discount_amount: 500 },
    });
    const stacked = await api.post("/v1/validations", {
      redeemables: [{ object: "voucher", id: code }],
      order: { amount: 40_000 },
      customer,
    });
    expect(stacked.body["redeemables"][0]).toMatchObject({
      result: { discount: { percent_off: 15.5, is_dynamic: true } },
      order: { applied_discount_amount: 6200 },
    });
  });

  test("evaluate the formula on redemption and read the stored customer", async () => {
    const code = await createVoucher({
      type: "AMOUNT",
      amount_off: 100,
      amount_off_formula: 'CUSTOMER_METADATA("age") + REDEMPTION_METADATA("extra")',
      aggregated_amount_limit: 3500,
    });
    const source_id = newCode("buyer");
    const order = { amount: 9000 };
    const redeem = (body: Json) => api.post(`/v1/vouchers/${code}/redemption`, body);
    const first = await redeem({ order, customer: { source_id, metadata: { age: 30 } } });
    expect([first.status, first.body["order"]["discount_amount"]]).toEqual([200, 100]);
    const second = await redeem({ order, customer: { source_id }, metadata: { extra: 2.25 } });
    expect([second.status, second.body["order"]["discount_amount"]]).toEqual([200, 3225]);
    const limited = await redeem({ order, customer: { source_id }, metadata: { extra: 20 } });
    expect([limited.status, limited.body["order"]["discount_amount"]]).toEqual([200, 3500]);
  });

  test("read the customer's birthdate", async () => {
    const code = await createVoucher({
      type: "PERCENT",
      percent_off: 10,
      percent_off_formula: "MONTH(CUSTOMER_BIRTHDATE) * 2",
    });
    const source_id = newCode("buyer");
    const order = { amount: 1000 };
    const created = await api.post("/v1/customers", { source_id, birthdate: "1990-09-30" });
    expect(created.status, created.text).toBe(200);
    expect(await validate(code, { order, customer: { source_id } })).toMatchObject({
      order: { discount_amount: 180 },
    });
    const stranger = { source_id: newCode("buyer") };
    expect(await validate(code, { order, customer: stranger })).toMatchObject({
      order: { discount_amount: 100 },
    });
    // Customer fields in the request are used, even when the customer is not stored.
    for (const birthFields of [{ birthdate: "1990-08-30" }, { birthday: "1990-08-30" }]) {
      for (const buyer of [stranger, { source_id }]) {
        expect(
          await validate(code, { order, customer: { ...buyer, ...birthFields } }),
        ).toMatchObject({
          order: { discount_amount: 160 },
        });
      }
    }
  });

  test("read the order item that they discount", async () => {
    const code = await createVoucher({
      type: "AMOUNT",
      effect: "APPLY_TO_ITEMS",
      amount_off: 1,
      amount_off_formula: 'ORDER_ITEM_METADATA("weight") * ORDER_ITEM_UNITS_QUANTITY',
    });
    const items = [
      { quantity: 2, price: 1000, metadata: { weight: 1.5 } },
      { quantity: 1, price: 1000 },
    ];
    const response = await validate(code, { order: { items } });
    expect(response).toMatchObject({ discount: { is_dynamic: true } });
    expect(response["order"]["items"].map((item: Json) => item["discount_amount"])).toEqual([
      300, 1,
    ]);
  });

  test.each([
    ["does not parse", { ...percent, percent_off_formula: "IF(ORDER_AMOUNT > ; 1; 2)" }],
    ["comes without a static value", { type: "PERCENT", percent_off_formula: "5" }],
    ["is nested too deeply", { ...percent, percent_off_formula: `${"(".repeat(400)}1` }],
  ])("are rejected when the formula %s", async (_what, discount) => {
    const rejected = await api.post("/v1/vouchers", { type: "DISCOUNT_VOUCHER", discount });
    expect([rejected.status, rejected.body["key"]]).toEqual([400, "invalid_voucher"]);
    expect(rejected.body["details"]).toMatch(/^Property \.discount\.percent_off/);
  });

  async function validate(code: string, request: Json): Promise<Json> {
    const response = await api.post(`/v1/vouchers/${code}/validate`, request);
    expect(response.status, response.text).toBe(200);
    return response.body;
  }

  async function createVoucher(discount: Json): Promise<string> {
    const code = newCode("FORMULA");
    const created = await api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount });
    expect(created.status, created.text).toBe(200);
    return code;
  }
});
