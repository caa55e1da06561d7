import type { MessageInitShape } from "@bufbuild/protobuf";
import { CountMeasure, type CountSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { repetitions } from "@scrip/testing";
import { afterAll, afterEach, describe, expect, test } from "vitest";

import {
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  limitOf,
  committedRedemptions,
  rejectionOf,
  stackOf,
  tierOf,
  voucherPart,
} from "./builders.ts";
import { createDice, race } from "./concurrency.ts";
import { checkInvariants, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => checkInvariants(service));
const commit = createCommit(service);

type CountInit = MessageInitShape<typeof CountSchema>;

const count = async (...counts: CountInit[]): Promise<bigint[]> => {
  const { results } = await service.redemptions.countRedemptions(
    { queries: [{ projectId: service.projectId, counts }] },
    service.call(),
  );
  return results[0]?.values ?? [];
};

const atTime = (instant: number) => ({ seconds: BigInt(instant / 1000), nanos: 0 });
const HOUR = 3_600_000;

const campaign = (value: string) => ({ case: "campaignId" as const, value });

describe("CountRedemptions", () => {
  test("counts by code, tier and campaign, by customer, application, and since an instant", async () => {
    const voucher = await createDiscountVoucher(service);
    const gift = await createGiftVoucher(service, 1000n);
    const campaignId = "camp_counts";
    const of = (customerId: string | undefined, at: number, channelId = "app_1") => ({
      ...(customerId !== undefined && { customerId }),
      now: atTime(at),
      channel: { channelId, channelType: "API" },
    });
    const part = voucherPart(voucher, {
      campaignId,
      orderAmount: 900n,
      discountedAmount: 90n,
      units: [{ productId: "prod_1", quantity: 2n }],
    });
    const outcomes = await commit(
      stackOf(service, [part], of("cust_1", NOON - 30 * HOUR)),
      stackOf(service, [part], of("cust_1", NOON)),
      stackOf(service, [part], of("cust_2", NOON, "app_2")),
      stackOf(
        service,
        [tierOf("promo_counts", campaignId), voucherPart(gift, { credits: 70n, campaignId })],
        of(undefined, NOON),
      ),
    );
    for (const outcome of outcomes) committedRedemptions(outcome);

    const inCampaign = campaign(campaignId);
    const ofVoucher = { case: "voucherId" as const, value: voucher.id };
    const ofTier = { case: "promotionTierId" as const, value: "promo_counts" };
    const { REDEMPTIONS, ORDERS_AMOUNT, DISCOUNTED_AMOUNT, GIFT_CREDITS, UNITS } = CountMeasure;
    const since = atTime(NOON - HOUR);
    const cases: [CountInit, bigint][] = [
      [{ scope: inCampaign, measure: REDEMPTIONS }, 5n],
      [{ scope: inCampaign, measure: REDEMPTIONS, since }, 4n],
      [{ scope: inCampaign, measure: REDEMPTIONS, customerId: "cust_1" }, 2n],
      [{ scope: inCampaign, measure: REDEMPTIONS, customerId: "cust_1", since }, 1n],
      [{ scope: inCampaign, measure: REDEMPTIONS, customerId: "cust_9" }, 0n],
      [{ scope: inCampaign, measure: REDEMPTIONS, channelId: "app_2" }, 1n],
      [{ scope: inCampaign, measure: ORDERS_AMOUNT }, 2700n],
      [{ scope: inCampaign, measure: ORDERS_AMOUNT, customerId: "cust_1" }, 1800n],
      [{ scope: inCampaign, measure: DISCOUNTED_AMOUNT }, 270n],
      [{ scope: inCampaign, measure: GIFT_CREDITS }, 70n],
      [{ scope: inCampaign, measure: GIFT_CREDITS, since }, 70n],
      [{ scope: inCampaign, measure: UNITS, productId: "prod_1" }, 6n],
      [{ scope: inCampaign, measure: UNITS, productId: "prod_2" }, 0n],
      [{ scope: inCampaign, measure: UNITS, productId: "prod_1", customerId: "cust_2" }, 2n],
      [{ scope: ofVoucher, measure: REDEMPTIONS }, 3n],
      [{ scope: ofVoucher, measure: REDEMPTIONS, customerId: "cust_1" }, 2n],
      [{ scope: ofVoucher, measure: REDEMPTIONS, since }, 2n],
      [{ scope: ofVoucher, measure: ORDERS_AMOUNT, since }, 1800n],
      [{ scope: ofTier, measure: REDEMPTIONS }, 1n],
      [{ scope: ofTier, measure: REDEMPTIONS, since }, 1n],
      [{ scope: ofTier, measure: REDEMPTIONS, customerId: "cust_1" }, 0n],
      [{ scope: campaign("camp_unknown"), measure: REDEMPTIONS }, 0n],
    ];
    expect(await count(...cases.map(([one]) => one))).toEqual(cases.map(([, value]) => value));
  });
});

describe("a count guard", () => {
  test("counts earlier commands of its batch, and rejects with its own error", async () => {
    const voucher = await createDiscountVoucher(service);
    const guards = [limitOf(campaign("camp_batch"), 2, { rejection: "redemption_rules_violated" })];
    const command = () =>
      stackOf(service, [voucherPart(voucher, { campaignId: "camp_batch", guards })]);
    const outcomes = await commit(command(), command(), command());
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual([
      "committed",
      "committed",
      "rejected",
    ]);
    const rejection = rejectionOf(outcomes[2]);
    expect(rejection).toMatchObject({ key: "redemption_rules_violated", message: "too often" });
    const failed = await service.redemptions.getRedemption(
      { redemptionId: rejection.resourceId ?? "" },
      service.call(),
    );
    expect(failed).toMatchObject({ failureCode: "redemption_rules_violated" });
  });

  test("without an error makes the decision stale", async () => {
    const voucher = await createDiscountVoucher(service);
    const guards = [limitOf({ case: "voucherId", value: voucher.id }, 0)];
    const [outcome] = await commit(stackOf(service, [voucherPart(voucher, { guards })]));
    expect(outcome?.outcome.case).toBe("stale");
  });

  test("counts earlier parts of its own command", async () => {
    const voucher = await createDiscountVoucher(service);
    const other = await createDiscountVoucher(service);
    const guards = [limitOf(campaign("camp_parts"), 1, { rejection: "too_many" })];
    const campaignId = "camp_parts";
    const [outcome] = await commit(
      stackOf(service, [
        voucherPart(voucher, { campaignId, guards }),
        voucherPart(other, { campaignId, guards }),
      ]),
    );
    expect(rejectionOf(outcome).key).toBe("too_many");
    // No part of the rejected command is counted.
    const [next] = await commit(stackOf(service, [voucherPart(other, { campaignId, guards })]));
    expect(committedRedemptions(next)).toHaveLength(1);
  });

  test("may count in a scope that the redemption does not change", async () => {
    const voucher = await createDiscountVoucher(service);
    const guards = [
      limitOf({ case: "promotionTierId", value: "promo_other" }, 1),
      limitOf({ case: "voucherId", value: voucher.id }, 1),
    ];
    const other = await createDiscountVoucher(service);
    const [outcome] = await commit(stackOf(service, [voucherPart(other, { guards })]));
    expect(committedRedemptions(outcome)).toHaveLength(1);
  });
});

/** Number of these commands that were committed, in batches of this size. */
async function raceFor(commands: readonly ReturnType<typeof stackOf>[], size: number) {
  const batches = Array.from({ length: Math.ceil(commands.length / size) }, (_, index) =>
    commands.slice(index * size, (index + 1) * size),
  );
  const kinds = (await race(service, batches)).map(({ outcome }) => outcome.case);
  return {
    committed: kinds.filter((kind) => kind === "committed").length,
    others: new Set(kinds.filter((kind) => kind !== "committed")),
  };
}

describe("concurrent redemptions with count guards", () => {
  test("allow a customer one redemption across all codes of a campaign", async () => {
    const codes = await Promise.all(
      Array.from({ length: 40 }, () => createDiscountVoucher(service)),
    );
    const scope = campaign("camp_once");
    const guards = [limitOf(scope, 1, { customerId: "cust_once", rejection: "once" })];
    const { committed, others } = await raceFor(
      codes.map((code) =>
        stackOf(service, [voucherPart(code, { campaignId: "camp_once", guards })], {
          customerId: "cust_once",
        }),
      ),
      1,
    );
    expect(committed).toBe(1);
    expect(others).toEqual(new Set(["rejected"]));
  });

  test("allow a customer one redemption of a code", async () => {
    const voucher = await createDiscountVoucher(service);
    const scope = { case: "voucherId" as const, value: voucher.id };
    const guards = [limitOf(scope, 1, { customerId: "cust_code", rejection: "once" })];
    const commands = Array.from({ length: 30 }, () =>
      stackOf(service, [voucherPart(voucher, { guards })], { customerId: "cust_code" }),
    );
    expect((await raceFor(commands, 1)).committed).toBe(1);
  });

  test("redeem a hundred times of thousands of attempts through fifty codes of a campaign limited to a hundred", async () => {
    const codes = await Promise.all(
      Array.from({ length: 50 }, () => createDiscountVoucher(service)),
    );
    const guards = [limitOf(campaign("camp_hundred"), 100, { rejection: "enough" })];
    const commands = Array.from(
      { length: repetitions({ usual: 2_500, full: 10_000 }) },
      (_, index) =>
        stackOf(service, [
          voucherPart(codes[index % codes.length] ?? throwMissing(), {
            campaignId: "camp_hundred",
            guards,
          }),
        ]),
    );
    expect(await raceFor(commands, 250)).toEqual({ committed: 100, others: new Set(["rejected"]) });
  });

  test("never exceed a budget", async () => {
    const roll = createDice(3);
    const scope = campaign("camp_budget");
    const commands = Array.from({ length: 400 }, () => {
      const discountedAmount = BigInt(1 + roll(900));
      const guard = {
        count: { scope, measure: CountMeasure.DISCOUNTED_AMOUNT },
        add: discountedAmount,
        conditions: { $less_than_or_equal: [20_000] },
        rejection: { code: 400, key: "budget", message: "" },
      };
      return stackOf(service, [
        {
          ...tierOf("promo_budget", "camp_budget"),
          discountedAmount,
          guards: [guard],
        },
      ]);
    });
    await raceFor(commands, 10);
    const [spent = 0n] = await count({ scope, measure: CountMeasure.DISCOUNTED_AMOUNT });
    expect(spent).toBeGreaterThan(19_000n);
    expect(spent <= 20_000n).toBe(true);
  });
});

function throwMissing(): never {
  throw new Error("no code");
}
