import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { DiscountEffect, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { GiftEffect, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import {
  commandOf,
  committer,
  givenDiscount,
  givenGift,
  madeOf,
  NOON,
  startFixture,
} from "./fixture.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());

const maskOf = (...paths: string[]) => create(FieldMaskSchema, { paths });
const at = (text: string) => ({ seconds: BigInt(Date.parse(text) / 1000), nanos: 0 });
const percent = { type: DiscountType.PERCENT, percentOff: "12.5" };

describe("CreateVoucher", () => {
  test("returns the whole discount voucher, and GetVoucher returns the same by code and by id", async () => {
    const voucher = await givenDiscount(fixture, {
      code: "Été 100%/#1",
      discount: { ...percent, effect: DiscountEffect.APPLY_TO_ORDER, amountLimit: 500n },
      startDate: at("2026-01-01T00:00:00Z"),
      expirationDate: at("2026-12-31T23:59:59Z"),
      validityTimeframe: { interval: "P2D", duration: "P1D" },
      validityDayOfWeek: [1, 0],
      active: true,
      additionalInfo: "for friends",
      metadata: { season: "summer", deep: { list: [1, null, true] } },
      redemption: { quantity: 3n },
      categoryId: "cat_1",
    });

    expect(voucher).toMatchObject({
      id: expect.stringMatching(/^v_[0-9a-f]{18}$/),
      code: "Été 100%/#1",
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: { type: DiscountType.PERCENT, percentOff: "12.5", amountLimit: 500n },
      categoryId: "cat_1",
      validityDayOfWeek: [0, 1],
      active: true,
      isReferralCode: false,
      createdAt: { seconds: BigInt(NOON / 1000) },
      publish: {
        count: 0n,
        url: "/v1/vouchers/%C3%89t%C3%A9%20100%25%2F%231/publications?page=1&limit=10",
      },
      redemption: {
        quantity: 3n,
        redeemedQuantity: 0n,
        url: "/v1/vouchers/%C3%89t%C3%A9%20100%25%2F%231/redemptions?page=1&limit=10",
      },
    });
    expect(voucher.updatedAt).toBeUndefined();
    for (const code of [voucher.code, voucher.id]) {
      expect(await fixture.vouchers.getVoucher({ code }, fixture.call())).toEqual(voucher);
    }
  });

  test("starts a gift card with its amount, whatever balance is sent", async () => {
    const card = await givenGift(fixture, 5000n, { gift: { amount: 5000n, balance: 9n } });
    expect(card.gift).toMatchObject({
      amount: 5000n,
      balance: 5000n,
      effect: GiftEffect.APPLY_TO_ORDER,
    });
    expect(card.redemption?.redeemedAmount).toBe(0n);
    expect(card.redemption?.quantity).toBeUndefined();
  });

  test("starts a loyalty card with its points, also with zero", async () => {
    const card = await fixture.vouchers.createVoucher(
      { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n } },
      fixture.call(),
    );
    expect(card.loyaltyCard).toMatchObject({ points: 0n, balance: 0n });
    expect(card.redemption?.redeemedPoints).toBe(0n);
  });

  const { DISCOUNT_VOUCHER, GIFT_VOUCHER, LOYALTY_CARD } = VoucherType;
  test.each([
    ["a discount voucher without a discount", { type: DISCOUNT_VOUCHER }, ".discount is required"],
    ["a gift voucher without a gift", { type: GIFT_VOUCHER }, ".gift is required"],
    ["a gift without an amount", { type: GIFT_VOUCHER, gift: {} }, ".gift.amount is required"],
    ["a card without points", { type: LOYALTY_CARD, loyaltyCard: {} }, ".points is required"],
    [
      "a gift with a discount",
      { type: GIFT_VOUCHER, gift: { amount: 1n }, discount: percent },
      ".discount does not belong",
    ],
    [
      "a percentage without its value",
      { type: DISCOUNT_VOUCHER, discount: { type: DiscountType.PERCENT } },
      ".discount.percent_off is required",
    ],
    [
      "a formula that does not parse",
      {
        type: DISCOUNT_VOUCHER,
        discount: { ...percent, percentOffFormula: "MAX(1,2)" },
      },
      "percent_off_formula is not a formula: unexpected text at position 6",
    ],
    [
      "free units of nothing",
      { type: DISCOUNT_VOUCHER, discount: { type: DiscountType.UNIT, unitOff: 1n } },
      "unit_type",
    ],
    [
      "more than all",
      { type: DISCOUNT_VOUCHER, discount: { type: DiscountType.PERCENT, percentOff: "101" } },
      "from 0 to 100",
    ],
    [
      "an effect that no decision applies",
      {
        type: DISCOUNT_VOUCHER,
        discount: { ...percent, effect: DiscountEffect.ADD_NEW_ITEMS },
      },
      "ADD_NEW_ITEMS",
    ],
    [
      "an end before the start",
      {
        type: DISCOUNT_VOUCHER,
        discount: percent,
        startDate: at("2026-02-01T00:00:00Z"),
        expirationDate: at("2026-01-01T00:00:00Z"),
      },
      ".expiration_date",
    ],
  ])("refuses %s with invalid_voucher", async (_name, body, details) => {
    await expect(fixture.vouchers.createVoucher(body, fixture.call())).rejects.toMatchObject({
      key: "invalid_voucher",
      options: { details: expect.stringContaining(details) },
    });
  });

  test.each([{ campaignId: "camp_1" }, { campaign: "Summer" }])(
    "leaves a voucher of %j to its campaign",
    async (body) => {
      await expect(givenDiscount(fixture, body)).rejects.toMatchObject({
        key: "invalid_payload",
        options: { details: expect.stringContaining(".campaign_id") },
      });
    },
  );

  test("uses the id that the gateway reserved, and ignores rules of gRPC callers", async () => {
    const reservedId = newId("v");
    expect((await givenDiscount(fixture, { reservedId })).id).toBe(reservedId);
    await expect(givenDiscount(fixture, { validationRules: ["val_1"] })).rejects.toMatchObject({
      key: "invalid_payload",
      options: { details: expect.stringContaining("CreateAssignment") },
    });
    const outside: Call = { ...fixture.call(), caller: { side: "service", id: "till" } };
    const body = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 1n } };
    await expect(
      fixture.vouchers.createVoucher({ ...body, reservedId: newId("v") }, outside),
    ).rejects.toMatchObject({ key: "invalid_payload" });
  });

  test("rejects contradicting recurring limits, and codes with control characters", async () => {
    for (const body of [
      { validityTimeframe: { interval: "P2D", duration: "P1D" } },
      { code: "a\u0007b" },
    ]) {
      await expect(givenDiscount(fixture, body)).rejects.toMatchObject({ key: "invalid_payload" });
    }
  });

  test("rejects a code that exists in the project, also after its voucher was deleted without force", async () => {
    const { code } = await givenDiscount(fixture);
    const again = () => givenDiscount(fixture, { code });
    const duplicate = {
      key: "duplicate_found",
      options: { details: `Duplicated voucher exists with id ${code}` },
    };
    await expect(again()).rejects.toMatchObject(duplicate);
    await fixture.vouchers.deleteVoucher({ code }, fixture.call());
    await expect(again()).rejects.toMatchObject(duplicate);
  });

  test("treats codes that differ in case as equal in case-insensitive projects", async () => {
    const folded = fixture.call({ id: "proj_folded", caseSensitiveCodes: false });
    const made = await fixture.vouchers.createVoucher(
      { code: "Summer", type: VoucherType.DISCOUNT_VOUCHER, discount: percent },
      folded,
    );
    expect(await fixture.vouchers.getVoucher({ code: "sUMMER" }, folded)).toEqual(made);
    await expect(
      fixture.vouchers.createVoucher(
        { code: "SUMMER", type: VoucherType.DISCOUNT_VOUCHER, discount: percent },
        folded,
      ),
    ).rejects.toMatchObject({ key: "duplicate_found" });
    const strict = await givenDiscount(fixture, { code: "Winter" });
    await expect(
      fixture.vouchers.getVoucher({ code: "WINTER" }, fixture.call()),
    ).rejects.toMatchObject({ key: "not_found" });
    expect(strict.code).toBe("Winter");
  });

  test("generates a code from the request's config merged over the project's", async () => {
    expect(await draw()).toMatch(/^[0-9a-zA-Z]{8}$/);
    expect(await draw(undefined, '{"pattern":"P-###","charset":"AB"}')).toMatch(/^P-[AB]{3}$/);
    expect(await draw({ length: 4n }, '{"pattern":"P-###","charset":"AB"}')).toMatch(/^[AB]{4}$/);
    expect(await draw({ pattern: "X-##", charset: "7", prefix: "<", postfix: ">" })).toBe("<X-77>");
    await expect(
      draw({ pattern: "X-##", charset: "7", prefix: "<", postfix: ">" }),
    ).rejects.toMatchObject({
      key: "invalid_code_config",
    });
  });
});

describe("UpdateVoucher", () => {
  test("changes only what is sent, merges metadata, and clears with null", async () => {
    const { code } = await givenDiscount(fixture, {
      additionalInfo: "old",
      metadata: { a: 1, b: 2 },
      redemption: { quantity: 5n },
      validityDayOfWeek: [1],
    });
    const later = NOON + 5000;
    const updated = await fixture.vouchers.updateVoucher(
      {
        code,
        active: false,
        metadata: { b: null, c: 3 },
        discount: { type: DiscountType.AMOUNT, amountOff: 700n },
        updateMask: maskOf(
          "active",
          "metadata",
          "discount",
          "additional_info",
          "validity_day_of_week",
        ),
      },
      fixture.call({ now: later }),
    );
    expect(updated).toMatchObject({
      active: false,
      metadata: { a: 1, b: null, c: 3 },
      discount: { type: DiscountType.AMOUNT, amountOff: 700n },
      validityDayOfWeek: [],
      redemption: { quantity: 5n },
      updatedAt: { seconds: BigInt(later / 1000) },
    });
    expect(updated.additionalInfo).toBeUndefined();
    expect(await fixture.vouchers.getVoucher({ code }, fixture.call())).toEqual(updated);
  });

  test("rejects changes of type, counters and contradicting values", async () => {
    const voucher = await givenDiscount(fixture, { redemption: { quantity: 5n } });
    const { code } = voucher;
    await committer(fixture)(commandOf(fixture, [{ voucher }]), commandOf(fixture, [{ voucher }]));
    const update = (body: object) =>
      fixture.vouchers.updateVoucher({ code, ...body }, fixture.call());
    for (const body of [
      { type: VoucherType.GIFT_VOUCHER },
      { redemption: { quantity: 1n }, updateMask: maskOf("redemption") },
      { updateMask: maskOf("discount") },
      {
        startDate: at("2030-01-01T00:00:00Z"),
        expirationDate: at("2029-01-01T00:00:00Z"),
        updateMask: maskOf("start_date", "expiration_date"),
      },
    ]) {
      await expect(update(body)).rejects.toMatchObject({ key: "invalid_voucher" });
    }
    const updated = await update({
      type: VoucherType.DISCOUNT_VOUCHER,
      redemption: { quantity: 2n },
      updateMask: maskOf("type", "redemption"),
    });
    expect(updated.redemption).toMatchObject({ quantity: 2n, redeemedQuantity: 2n });
  });

  test("returns not_found for an unknown code", async () => {
    await expect(
      fixture.vouchers.updateVoucher({ code: "nope" }, fixture.call()),
    ).rejects.toMatchObject({ key: "not_found", options: { resourceId: "nope" } });
  });
});

describe("EnableVoucher and DisableVoucher", () => {
  test("enable and disable a voucher, and a repeat changes nothing", async () => {
    const { code } = await givenDiscount(fixture);
    const off = await fixture.vouchers.disableVoucher({ code }, fixture.call({ now: NOON + 1000 }));
    expect(off.active).toBe(false);
    expect(
      await fixture.vouchers.disableVoucher({ code }, fixture.call({ now: NOON + 2000 })),
    ).toEqual(off);
    const on = await fixture.vouchers.enableVoucher({ code }, fixture.call({ now: NOON + 3000 }));
    expect(on).toMatchObject({ active: true, updatedAt: { seconds: BigInt(NOON / 1000 + 3) } });
  });
});

describe("DeleteVoucher", () => {
  test("hides a deleted voucher everywhere, and frees its code with force", async () => {
    const voucher = await givenDiscount(fixture);
    const { code } = voucher;
    const gather = async () =>
      (
        await fixture.redemptions.loadVouchers(
          { queries: [{ projectId: fixture.projectId, codes: [code, voucher.id] }] },
          fixture.call(),
        )
      ).results[0]?.vouchers.map((one) => one.voucher?.id);
    expect(await gather()).toEqual([voucher.id, voucher.id]);

    await fixture.vouchers.deleteVoucher({ code, force: true }, fixture.call());

    expect(await gather()).toEqual([undefined, undefined]);
    for (const request of [
      () => fixture.vouchers.getVoucher({ code }, fixture.call()),
      () => fixture.vouchers.enableVoucher({ code }, fixture.call()),
      () => fixture.vouchers.deleteVoucher({ code }, fixture.call()),
      () => fixture.redemptions.listVoucherRedemptions({ code }, fixture.call()),
    ]) {
      await expect(request()).rejects.toMatchObject({ key: "not_found" });
    }
    const again = await givenDiscount(fixture, { code });
    expect(await gather()).toEqual([again.id, undefined]);
  });
});

describe("ListVoucherRedemptions", () => {
  test("returns the usage of a voucher and its redemptions, newest first", async () => {
    const voucher = await givenGift(fixture, 100n, { redemption: { quantity: 9n } });
    const commit = committer(fixture);
    const ids: string[] = [];
    for (const [index, credits] of [30n, 20n, 10n].entries()) {
      const [outcome] = await commit(
        commandOf(fixture, [{ voucher, credits }], {
          now: { seconds: BigInt(NOON / 1000 + index), nanos: 0 },
        }),
      );
      ids.unshift(madeOf(outcome)[0]?.id ?? "");
    }
    const list = await fixture.redemptions.listVoucherRedemptions(
      { code: voucher.code, limit: 2n },
      fixture.call(),
    );
    expect(list).toMatchObject({
      quantity: 9n,
      redeemedQuantity: 3n,
      redeemedAmount: 60n,
      total: 3n,
      url: voucher.redemption?.url,
    });
    expect(list.redemptionEntries.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    // Each with the voucher as it was right after.
    expect(list.redemptionEntries.map((one) => one.voucher?.gift?.balance)).toEqual([40n, 50n]);
    const rest = await fixture.redemptions.listVoucherRedemptions(
      { code: voucher.id, limit: 2n, page: 2n },
      fixture.call(),
    );
    expect(rest.redemptionEntries.map(({ id }) => id)).toEqual(ids.slice(2));
    await expect(
      fixture.redemptions.listVoucherRedemptions({ code: voucher.id, page: 1001n }, fixture.call()),
    ).rejects.toMatchObject({ key: "page_over_limit" });
  });
});

/** The code of a voucher that was made without one. */
async function draw(codeConfig?: object, project?: string): Promise<string> {
  const { code } = await fixture.vouchers.createVoucher(
    {
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: percent,
      ...(codeConfig && { codeConfig }),
    },
    fixture.call({ codeConfig: project }),
  );
  return code;
}
