import type { JsonObject } from "@bufbuild/protobuf";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { commandOf, createCommit, createDiscountVoucher, createGiftVoucher } from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const DAY = 86_400_000;
const at = (instant: number) => ({ seconds: BigInt(Math.floor(instant / 1000)), nanos: 0 });

type Query = Parameters<typeof service.vouchers.listVouchers>[0];

const list = async (query: Query = {}, timeZone = "UTC") => {
  const { vouchers, total } = await service.vouchers.listVouchers(
    query,
    service.call({ timeZone }),
  );
  expect(total >= BigInt(vouchers.length)).toBe(true);
  return vouchers.map(({ code }) => code);
};

const filtered = async (filters: object, timeZone?: string) =>
  (await list({ filters: filters as JsonObject }, timeZone)).toSorted();

/** Conditions on one field. */
const one = (field: string, conditions: object) => ({ [field]: { conditions } });

beforeAll(async () => {
  const call = (days: number) => service.call({ now: NOON + days * DAY });
  const make = (days: number, body: object) => service.vouchers.createVoucher(body, call(days));
  await make(-40, {
    code: "A-old",
    type: VoucherType.GIFT_VOUCHER,
    gift: { amount: 500n },
    metadata: { season: "Summer", size: 12, tags: ["x", "y"], since: "2026-05-01" },
    categoryId: "cat_1",
  });
  await make(-2, {
    code: "B-ends",
    type: VoucherType.GIFT_VOUCHER,
    gift: { amount: 50n },
    expirationDate: at(NOON - DAY),
    startDate: at(NOON - 60 * DAY),
    metadata: { season: "winter", size: 3 },
  });
  await make(-1, {
    code: "C-starts",
    type: VoucherType.LOYALTY_CARD,
    loyaltyCard: { points: 1n },
    startDate: at(NOON + 3 * DAY),
  });
  await createDiscountVoucher(service, {
    code: "D-off",
    active: false,
    redemption: { quantity: 1n },
  });
  const spent = await createDiscountVoucher(service, {
    code: "E-spent%",
    redemption: { quantity: 1n },
  });
  await createCommit(service)(commandOf(service, [{ voucher: spent }]));
  const deleted = await createGiftVoucher(service, 1n, { code: "F-gone" });
  await service.vouchers.deleteVoucher({ code: deleted.code }, service.call());
});

describe("ListVouchers", () => {
  test("lists vouchers newest first without deleted ones, by page, with the total", async () => {
    expect(await list()).toEqual(["E-spent%", "D-off", "C-starts", "B-ends", "A-old"]);
    const page = await service.vouchers.listVouchers({ limit: 2n, page: 2n }, service.call());
    expect(page.vouchers.map(({ code }) => code)).toEqual(["C-starts", "B-ends"]);
    expect(page.total).toBe(5n);
    const past = await service.vouchers.listVouchers({ limit: 2n, page: 9n }, service.call());
    expect(past).toMatchObject({ vouchers: [], total: 5n });
    expect(
      (await service.vouchers.listVouchers({}, service.call({ id: "proj_other" }))).total,
    ).toBe(0n);
  });

  test.each([
    ["code", "A-old"],
    ["-code", "E-spent%"],
    ["created_at", "A-old"],
    ["type", "D-off"],
    ["active", "D-off"],
    ["category", "A-old"],
  ])("orders by %s", async (order, first) => {
    expect((await list({ order }))[0]).toBe(first);
  });

  test.each([
    ["a limit above 100", { limit: 101n }],
    ["a page above 99", { page: 100n }],
  ])("rejects %s", async (_name, query) => {
    await expect(list(query)).rejects.toMatchObject({ key: "invalid_query_params" });
  });

  test("filters by codes and ids, repeated or separated by commas", async () => {
    const { id } = await service.vouchers.getVoucher({ code: "C-starts" }, service.call());
    expect(await list({ ids: ["A-old", id] })).toEqual(["C-starts", "A-old"]);
    expect(await list({ ids: [`A-old, ${id}`, "unknown"] })).toEqual(["C-starts", "A-old"]);
    expect(await list({ ids: ["unknown"] })).toEqual([]);
    const tooMany = Array.from({ length: 101 }, String).join(",");
    await expect(list({ ids: [tooMany] })).rejects.toMatchObject({ key: "invalid_query_params" });
  });

  test("filters by code, category and time", async () => {
    expect(await list({ code: "D-off" })).toEqual(["D-off"]);
    expect(await list({ categoryId: "cat_1" })).toEqual(["A-old"]);
    expect(await list({ campaignId: "camp_1" })).toEqual([]);
    expect(await list({ createdAt: { after: at(NOON - 3 * DAY), before: at(NOON) } })).toEqual([
      "C-starts",
      "B-ends",
    ]);
  });

  test.each([
    ["$is", one("code", { $is: "A-old" }), ["A-old"]],
    ["$in", one("type", { $in: ["LOYALTY_CARD"] }), ["C-starts"]],
    ["$not_in", one("type", { $not_in: ["LOYALTY_CARD", "GIFT_VOUCHER"] }), ["D-off", "E-spent%"]],
    [
      "$is_not and null",
      one("category_id", { $is_not: ["cat_1"] }),
      ["B-ends", "C-starts", "D-off", "E-spent%"],
    ],
    ["$has_value", one("start_date", { $has_value: true }), ["B-ends", "C-starts"]],
    [
      "$is_unknown",
      one("expiration_date", { $is_unknown: "" }),
      ["A-old", "C-starts", "D-off", "E-spent%"],
    ],
    ["$contains, case aside", one("code", { $contains: "ENDS" }), ["B-ends"]],
    ["$contains of a pattern's letters", one("code", { $contains: "t%" }), ["E-spent%"]],
    ["$not_contain", one("code", { $not_contain: ["-o", "-s"] }), ["B-ends"]],
    ["$starts_with", one("code", { $starts_with: ["a", "b"] }), ["A-old", "B-ends"]],
    ["$ends_with", one("code", { $ends_with: "%" }), ["E-spent%"]],
    ["$is on a boolean", one("active", { $is: "FALSE" }), ["D-off"]],
    ["$active", one("active", { $active: "" }), ["A-old", "E-spent%"]],
    ["$disabled", one("active", { $disabled: "" }), ["D-off"]],
    ["$expired", one("expiration_date", { $expired: "" }), ["B-ends"]],
    ["$before_start", one("active", { $before_start: "" }), ["C-starts"]],
    ["$redeemed", one("redemption", { $redeemed: "" }), ["E-spent%"]],
    [
      "$redeemable",
      one("redemption", { $redeemable: "" }),
      ["A-old", "B-ends", "C-starts", "D-off"],
    ],
    ["$more_than", one("gift.balance", { $more_than: "50" }), ["A-old"]],
    ["$less_than_equal", one("gift.amount", { $less_than_equal: 50 }), ["B-ends"]],
    ["$count", one("redemption.redeemed_quantity", { $count: 1 }), ["E-spent%"]],
    ["two operators", one("redemption.quantity", { $more_than: 0, $less_than: 1 }), []],
    ["$after", one("start_date", { $after: "2026-11-21" }), ["C-starts"]],
    ["$before", one("expiration_date", { $before: "2026-11-20T12:00:00.001Z" }), ["B-ends"]],
    ["$today", one("created_at", { $today: "" }), ["D-off", "E-spent%"]],
    ["$yesterday", one("created_at", { $yesterday: "" }), ["C-starts"]],
    ["$is_days_ago", one("created_at", { $is_days_ago: 2 }), ["B-ends"]],
    ["$more_than on a date", one("created_at", { $more_than: 30 }), ["A-old"]],
    ["$this_week", one("start_date", { $next_week: "" }), ["C-starts"]],
    ["$is_month", one("created_at", { $is_month: [10] }), ["A-old"]],
    ["$is_day", one("created_at", { $is_day: 6 }), ["D-off", "E-spent%"]],
    ["$today_md", one("created_at", { $today_md: "" }), ["D-off", "E-spent%"]],
    ["metadata text", one("metadata.season", { $is: "Summer" }), ["A-old"]],
    ["metadata, case aside", one("metadata.season", { $contains: "INT" }), ["B-ends"]],
    ["metadata number", one("metadata.size", { $more_than: 3 }), ["A-old"]],
    ["metadata number as text", one("metadata.size", { $is: "12" }), ["A-old"]],
    ["metadata list", one("metadata.tags", { $contains: "y" }), ["A-old"]],
    ["metadata list length", one("metadata.tags", { $count_more: 1 }), ["A-old"]],
    ["metadata date", one("metadata.since", { $before: "2026-05-02" }), ["A-old"]],
    [
      "metadata unknown",
      one("metadata.size", { $is_unknown: "" }),
      ["C-starts", "D-off", "E-spent%"],
    ],
    [
      "metadata $not_in",
      one("metadata.season", { $not_in: ["Summer", "winter"] }),
      ["C-starts", "D-off", "E-spent%"],
    ],
  ])("filters by %s", async (_name, filters, codes) => {
    expect(await filtered(filters)).toEqual(codes);
  });

  test("joins filters by AND, or by OR in any case", async () => {
    const fields = {
      type: { conditions: { $is: "GIFT_VOUCHER" } },
      active: { conditions: { $disabled: "" } },
    };
    expect(await filtered(fields)).toEqual([]);
    expect(await filtered({ ...fields, junction: "OR" })).toEqual(["A-old", "B-ends", "D-off"]);
  });

  test("uses the days of the project's time zone", async () => {
    const late = { created_at: { conditions: { $today: "" } } };
    // Noon in UTC is already tomorrow on Kiritimati (+14), and so are the vouchers created at noon.
    expect(await filtered(late, "Pacific/Kiritimati")).toEqual(["D-off", "E-spent%"]);
    const day = { created_at: { conditions: { $is_day_of_month: 22 } } };
    for (const zone of ["Pacific/Kiritimati", "GMT+14", "+13:30"]) {
      expect(await filtered(day, zone)).toEqual(["D-off", "E-spent%"]);
    }
    expect(await filtered(day)).toEqual([]);
  });

  test.each([
    ["an unknown field", one("secret", { $is: 1 }), "Unknown filter field secret"],
    ["an unknown operator", one("code", { $like: 1 }), "$is_less_days_in_future_md"],
    ["no conditions", { code: {} }, "must have conditions"],
    ["a strange junction", { junction: "xor" }, "junction"],
    ["an operator that does not fit", one("active", { $contains: "a" }), "cannot be used"],
    ["an unsupported operator", one("code", { $in_location: "a" }), "cannot be used"],
    ["a number that is none", one("gift.amount", { $more_than: "1; drop table" }), "numbers"],
    ["a date that is none", one("created_at", { $after: "2026-02-30" }), "ISO 8601"],
    ["an object as a value", one("code", { $is: { a: 1 } }), "must be strings"],
    [
      "too many conditions",
      Object.fromEntries(
        Array.from({ length: 21 }, (_, index) => [
          `metadata.k${index}`,
          { conditions: { $is: 1 } },
        ]),
      ),
      "more than 20",
    ],
  ])("rejects %s", async (_name, filters, details) => {
    await expect(filtered(filters)).rejects.toMatchObject({
      key: "invalid_query_params",
      options: { details: expect.stringContaining(details) },
    });
  });

  test("never executes request values as SQL", async () => {
    const hostile = `x' or 1=1 --`;
    expect(await filtered(one(`metadata.${hostile}`, { $is: hostile }))).toEqual([]);
    expect(await filtered(one("code", { $contains: hostile }))).toEqual([]);
    await expect(filtered(one(hostile, { $is: 1 }))).rejects.toMatchObject({
      key: "invalid_query_params",
    });
  });
});
