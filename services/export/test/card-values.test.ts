import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, beforeAll, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject, exportReader } from "./export-reader.ts";

const platform = await startPlatform();
afterAll(() => platform[Symbol.asyncDispose]());
const vouchers = platform.client(VoucherService);
const publications = platform.client(PublicationService);
const transactions = platform.client(TransactionService);

const call = newCall();
beforeAll(() => addProject(platform, call));
const { rowsOf } = exportReader(platform, call);

test("the value of a loyalty card is the points that were put on it, also after its creation", async () => {
  for (const [code, points] of [
    ["NEW", 7n],
    ["USED", 10n],
  ] as const) {
    const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points } };
    await vouchers.createVoucher({ code, ...card }, call);
  }
  const discount = { type: DiscountType.PERCENT, percentOff: "12.5" };
  const coupon = { type: VoucherType.DISCOUNT_VOUCHER, discount };
  await vouchers.createVoucher({ code: "PERCENT", ...coupon }, call);
  const exported = async () => {
    const fields = ["code", "value", "loyalty_balance"];
    const [, ...rows] = await rowsOf("voucher", { fields, order: "code" });
    return rows;
  };
  const untouched = [
    ["NEW", "7", "7"],
    ["PERCENT", "12.5", ""],
  ];
  const [fresh, percent] = untouched;
  expect(await exported()).toEqual([fresh, percent, ["USED", "10", "10"]]);
  await publications.createPublication({ customer: { sourceId: "ann" }, voucher: "USED" }, call);
  await transactions.adjustBalance({ code: "USED", amount: 32n }, call);
  await transactions.adjustBalance({ code: "USED", amount: -2n }, call);
  expect(await exported()).toEqual([fresh, percent, ["USED", "42", "40"]]);
  const [, ...defaults] = await rowsOf("voucher", { order: "code" });
  expect(defaults.map(([code, , value]) => [code, value])).toEqual([
    ["NEW", "7"],
    ["PERCENT", "12.5"],
    ["USED", "42"],
  ]);
});
