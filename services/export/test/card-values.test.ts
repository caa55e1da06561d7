import type { JsonObject } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type CardReader, createCardReader, type OwnerRow } from "../src/export/card-balances.ts";
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

test("filters compare the value that the file shows, also that of a loyalty card that has changed", async () => {
  const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 10n } };
  const changed = "FILTERED-2";
  for (const code of ["FILTERED-1", changed]) await vouchers.createVoucher({ code, ...card }, call);
  const gift = { type: VoucherType.GIFT_VOUCHER, gift: { amount: 4250n } };
  await vouchers.createVoucher({ code: "FILTERED-GIFT", ...gift }, call);
  await publications.createPublication({ customer: { sourceId: "eve" }, voucher: changed }, call);
  await transactions.adjustBalance({ code: changed, amount: 32n }, call);
  const matching = async (value: JsonObject, junction = "and") => {
    const [, ...rows] = await rowsOf("voucher", {
      fields: ["code", "value"],
      order: "code",
      filters: {
        code: { conditions: { $starts_with: "FILTERED-" } },
        value: { conditions: value },
        junction,
      },
    });
    return rows.filter(([code]) => code?.startsWith("FILTERED-"));
  };
  const [first, second, third] = [
    ["FILTERED-1", "10"],
    ["FILTERED-2", "42"],
    ["FILTERED-GIFT", "42.50"],
  ];
  expect(await matching({ $is: 42 })).toEqual([second]);
  expect(await matching({ $is: 10 })).toEqual([first]);
  expect(await matching({ $more_than: 42 })).toEqual([third]);
  expect(await matching({ $in: [42, 42.5] })).toEqual([second, third]);
  expect(await matching({ $is: 1 }, "or")).toEqual([first, second, third]);
});

test("the points of a file are those of one snapshot, and each lookup of its rows is one call", async () => {
  const card = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 100n } };
  const [from, to] = ["FROM", "TO"] as const;
  const rows = new Map<string, OwnerRow>();
  for (const code of [from, to]) {
    const { id } = await vouchers.createVoucher({ code, ...card }, call);
    rows.set(code, { id, voucher_type: "LOYALTY_CARD", value: "100" });
    const customer = { sourceId: `holder of ${code}` };
    await publications.createPublication({ customer, voucher: code }, call);
  }
  const rowOf = (code: string) => [rows.get(code) ?? {}];
  await transactions.adjustBalance({ code: from, amount: -1n }, call);
  const read = async (reader: CardReader, of: readonly OwnerRow[]) =>
    [...(await reader.balancesOf(of, call)).values()].map(({ balance }) => balance);
  {
    await using reader = createCardReader(platform.client(CardService), call);
    const ofFrom = rowOf(from);
    expect(await read(reader, ofFrom)).toEqual([99n]);
    // The points reach a card of the next lookup.
    await transactions.adjustBalance({ code: from, amount: -40n }, call);
    await transactions.adjustBalance({ code: to, amount: 40n }, call);
    expect(await read(reader, rowOf(to))).toEqual([100n]);
    expect(await read(reader, rowOf(from))).toEqual([99n]);
    expect(reader.balancesOf(ofFrom, call)).toBe(reader.balancesOf(ofFrom, call));
  }
  await using later = createCardReader(platform.client(CardService), call);
  expect(await read(later, rowOf(to))).toEqual([140n]);
});
