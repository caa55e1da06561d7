import { fromBinary } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { DiscountEffect, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { ResourceChangedSchema } from "@scrip/proto/scrip/events/v1/resources_pb";
import { GiftEffect, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { createDiscountVoucher, createGiftVoucher } from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const at = (text: string) => ({ seconds: BigInt(Date.parse(text) / 1000), nanos: 0 });
const percent = { type: DiscountType.PERCENT, percentOff: "12.5" };

describe("CreateVoucher", () => {
  test("publishes a new voucher with its transaction, only where a webhook receives it", async () => {
    const published = async (id: string) => {
      const { rows } = await service.db.query<{ payload: Uint8Array }>(
        "select payload from outbox where key = $1",
        [id],
      );
      return rows.map(({ payload }) => fromBinary(ResourceChangedSchema, payload));
    };
    const create = (webhookEvents: readonly string[], options: Partial<Call> = {}) => {
      const call = service.call();
      const project = { ...call.project, webhookEvents };
      const code = newId("event");
      const request = { code, type: VoucherType.DISCOUNT_VOUCHER, discount: percent };
      return service.vouchers.createVoucher(request, { ...call, project, ...options });
    };
    const { id: unheard } = await create(["voucher.updated", "redemption.succeeded"]);
    expect(await published(unheard)).toEqual([]);

    const idempotency = { key: newId("event"), requestHash: new Uint8Array(32) };
    for (const options of [{}, { idempotency }]) {
      const voucher = await create(["voucher.created"], options);
      const [event, ...others] = await published(voucher.id);
      expect(others).toEqual([]);
      expect(event).toMatchObject({
        names: ["voucher.created"],
        resource: "voucher",
        channel: "API",
      });
      expect(JSON.parse(event?.data ?? "")).toMatchObject({ id: voucher.id, code: voucher.code });
    }
    // A repetition of the request with the key publishes nothing.
    const repeated = await create(["voucher.created"], { idempotency });
    expect(await published(repeated.id)).toHaveLength(1);

    const { rows: before } = await service.db.query("select from outbox");
    const project = { ...service.call().project, webhookEvents: ["voucher.created"] };
    const taken = { code: repeated.code, type: VoucherType.DISCOUNT_VOUCHER, discount: percent };
    await expect(
      service.vouchers.createVoucher(taken, { ...service.call(), project }),
    ).rejects.toMatchObject({ key: "duplicate_found" });
    const { rows: after } = await service.db.query("select from outbox");
    expect(after).toHaveLength(before.length);
  });

  test("returns the whole discount voucher, and GetVoucher returns the same by code and by id", async () => {
    const voucher = await createDiscountVoucher(service, {
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
      expect(await service.vouchers.getVoucher({ code }, service.call())).toEqual(voucher);
    }
  });

  test("sets the balance of a new gift card to its amount, ignoring a balance that is sent", async () => {
    const card = await createGiftVoucher(service, 5000n, { gift: { amount: 5000n, balance: 9n } });
    expect(card.gift).toMatchObject({
      amount: 5000n,
      balance: 5000n,
      effect: GiftEffect.APPLY_TO_ORDER,
    });
    expect(card.redemption?.redeemedAmount).toBe(0n);
    expect(card.redemption?.quantity).toBeUndefined();
  });

  test("starts a loyalty card with its points, also with zero", async () => {
    const card = await service.vouchers.createVoucher(
      { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n } },
      service.call(),
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
      "free units without an item",
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
  ])("rejects %s with invalid_voucher", async (_name, body, details) => {
    await expect(service.vouchers.createVoucher(body, service.call())).rejects.toMatchObject({
      key: "invalid_voucher",
      options: { details: expect.stringContaining(details) },
    });
  });

  test.each([{ campaignId: "camp_1" }, { campaign: "Summer" }])(
    "leaves a voucher of %j to its campaign",
    async (body) => {
      await expect(createDiscountVoucher(service, body)).rejects.toMatchObject({
        key: "invalid_payload",
        options: { details: expect.stringContaining(".campaign_id") },
      });
    },
  );

  test("infers the type from the discount, the gift or the loyalty card", async () => {
    const createVoucher = (request: Parameters<typeof service.vouchers.createVoucher>[0]) =>
      service.vouchers.createVoucher(request, service.call());
    const [discount, gift, card] = await Promise.all([
      createVoucher({ discount: percent }),
      createVoucher({ gift: { amount: 5000n } }),
      createVoucher({ loyaltyCard: { points: 0n } }),
    ]);
    expect([discount?.type, gift?.type, card?.type]).toEqual([
      VoucherType.DISCOUNT_VOUCHER,
      VoucherType.GIFT_VOUCHER,
      VoucherType.LOYALTY_CARD,
    ]);
    await expect(createVoucher({ code: "NOTHING" })).rejects.toMatchObject({
      key: "invalid_payload",
      options: { details: "Payload should have required property 'type'" },
    });
    await expect(createVoucher({ discount: percent, gift: { amount: 1n } })).rejects.toMatchObject({
      key: "invalid_voucher",
    });
  });

  test("uses the id that the gateway reserved, and ignores rules of gRPC callers", async () => {
    const reservedId = newId("v");
    expect((await createDiscountVoucher(service, { reservedId })).id).toBe(reservedId);
    await expect(
      createDiscountVoucher(service, { validationRules: ["val_1"] }),
    ).rejects.toMatchObject({
      key: "invalid_payload",
      options: { details: expect.stringContaining("CreateAssignment") },
    });
    const outside: Call = { ...service.call(), caller: { side: "service", id: "till" } };
    const body = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 1n } };
    await expect(
      service.vouchers.createVoucher({ ...body, reservedId: newId("v") }, outside),
    ).rejects.toMatchObject({ key: "invalid_payload" });
  });

  test("rejects contradicting recurring limits, codes with control characters, and words that paths read as operations", async () => {
    for (const body of [
      { validityTimeframe: { interval: "P2D", duration: "P1D" } },
      { code: "a\u0007b" },
      { code: "import" },
      { code: "bulk" },
    ]) {
      await expect(createDiscountVoucher(service, body)).rejects.toMatchObject({
        key: "invalid_payload",
      });
    }
    expect((await createDiscountVoucher(service, { code: "IMPORT" })).code).toBe("IMPORT");
  });

  test("rejects a code that exists in the project, also after its voucher was deleted without force", async () => {
    const { code } = await createDiscountVoucher(service);
    const again = () => createDiscountVoucher(service, { code });
    const duplicate = {
      key: "duplicate_found",
      options: { details: `Duplicated voucher exists with id ${code}` },
    };
    await expect(again()).rejects.toMatchObject(duplicate);
    await service.vouchers.deleteVoucher({ code }, service.call());
    await expect(again()).rejects.toMatchObject(duplicate);
  });

  test("treats codes that differ in case as equal in case-insensitive projects", async () => {
    const folded = service.call({ id: "proj_folded", caseSensitiveCodes: false });
    const created = await service.vouchers.createVoucher(
      { code: "Summer", type: VoucherType.DISCOUNT_VOUCHER, discount: percent },
      folded,
    );
    expect(await service.vouchers.getVoucher({ code: "sUMMER" }, folded)).toEqual(created);
    await expect(
      service.vouchers.createVoucher(
        { code: "SUMMER", type: VoucherType.DISCOUNT_VOUCHER, discount: percent },
        folded,
      ),
    ).rejects.toMatchObject({ key: "duplicate_found" });
    // The key that the code is stored under is no name of the voucher.
    const key = "\u0001summer";
    await expect(service.vouchers.getVoucher({ code: key }, folded)).rejects.toMatchObject({
      key: "not_found",
    });
    await expect(service.vouchers.deleteVoucher({ code: key }, folded)).rejects.toMatchObject({
      key: "not_found",
    });
    const filters = { code: { conditions: { $is: key } } };
    for (const query of [{ code: key }, { ids: [key] }, { filters }]) {
      expect((await service.vouchers.listVouchers(query, folded)).total).toBe(0n);
    }
    const strict = await createDiscountVoucher(service, { code: "Winter" });
    await expect(
      service.vouchers.getVoucher({ code: "WINTER" }, service.call()),
    ).rejects.toMatchObject({ key: "not_found" });
    expect(strict.code).toBe("Winter");
  });

  test("generates a code from the request's config merged over the project's", async () => {
    expect(await draw()).toMatch(/^[0-9a-zA-Z]{8}$/);
    expect(await draw(undefined, '{"pattern":"P-###","charset":"AB"}')).toMatch(/^P-[AB]{3}$/);
    expect(await draw({ length: 4n }, '{"pattern":"P-###","charset":"AB"}')).toMatch(/^[AB]{4}$/);
    expect(await draw({ pattern: "X-##", charset: "7", prefix: "<", postfix: ">" })).toBe("<X-77>");
    await expect(draw({ pattern: "import" })).rejects.toMatchObject({ key: "invalid_code_config" });
    await expect(
      draw({ pattern: "X-##", charset: "7", prefix: "<", postfix: ">" }),
    ).rejects.toMatchObject({
      key: "invalid_code_config",
    });
  });
});

/** The generated code of a voucher that is created without a code. */
async function draw(codeConfig?: object, project?: string): Promise<string> {
  const { code } = await service.vouchers.createVoucher(
    {
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: percent,
      ...(codeConfig && { codeConfig }),
    },
    service.call({ codeConfig: project }),
  );
  return code;
}
