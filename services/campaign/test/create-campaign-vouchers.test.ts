import { instantToProto } from "@scrip/mapping";
import {
  CampaignKind,
  CampaignStatus,
  CampaignType,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import { GiftEffect, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { lockWaits } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { deleteCampaign } from "../src/store/campaigns.ts";
import { newCall, newCoupons, newPromotion, NOON, rejectionKey, TEN_PERCENT } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, categories, network, vouchers } = service;

const countOf = async (call: ReturnType<typeof newCall>, campaignId: string) =>
  (await campaigns.getCampaign({ campaignId }, call)).vouchersCount;

describe("CreateCampaignVouchers", () => {
  test("adds a voucher that inherits what the request does not set", async () => {
    const call = newCall();
    const campaign = await newCoupons(service, call, {
      startDate: instantToProto(NOON),
      category: "Spring",
    });
    const voucher = await campaigns.createCampaignVouchers(
      { campaignId: campaign.name, code: "OWN", metadata: { a: 1 }, redemption: { quantity: 5n } },
      call,
    );
    expect(voucher).toMatchObject({
      code: "OWN",
      campaignId: campaign.id,
      categoryId: campaign.categoryId,
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: { percentOff: "10" },
      startDate: instantToProto(NOON),
      redemption: { quantity: 5n },
      metadata: { a: 1 },
    });
    expect(await countOf(call, campaign.id)).toBe(1n);
  });

  test("derives the type of a voucher from its campaign when none is sent", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call);
    expect(await campaigns.createVoucher({ campaignId }, call)).toMatchObject({
      type: VoucherType.DISCOUNT_VOUCHER,
    });
  });

  test("adds several vouchers and counts those of concurrent requests", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call);
    await Promise.all(
      [1n, 2n, 3n].map((vouchersCount) =>
        campaigns.createCampaignVouchers({ campaignId: id, vouchersCount }, call),
      ),
    );
    expect(await countOf(call, id)).toBe(6n);
    expect((await vouchers.listVouchers({ campaignId: id }, call)).total).toBe(6n);
  });

  test("rejects invalid requests with their keys and adds no voucher", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call);
    const { id: promotionId } = await newPromotion(service, call);
    const standalone = await newCoupons(service, call, {
      type: CampaignKind.STANDALONE,
      voucher: { discount: TEN_PERCENT, code: "PUBLIC" },
    });
    const attempts: [string, Parameters<typeof campaigns.createCampaignVouchers>[0]][] = [
      ["not_found", { campaignId: "camp_unknown" }],
      ["not_found", { campaignId, categoryId: "cat_unknown" }],
      ["duplicate_found", { campaignId, code: "PUBLIC" }],
      ["invalid_campaign", { campaignId: promotionId }],
      ["invalid_campaign", { campaignId: standalone.id }],
      ["invalid_campaign_params", { campaignId, vouchersCount: 101n }],
      ["invalid_payload", { campaignId, code: "A", vouchersCount: 2n }],
      ["invalid_code_config", { campaignId, codeConfig: { charset: "" }, category: "New" }],
      [
        "invalid_code_config",
        {
          campaignId,
          codeConfig: { charset: "ab", length: 1n },
          vouchersCount: 3n,
          category: "New",
        },
      ],
    ];
    for (const [key, request] of attempts) {
      expect(await rejectionKey(campaigns.createCampaignVouchers(request, call))).toBe(key);
    }
    expect(await countOf(call, campaignId)).toBe(0n);
    expect((await categories.listCategories({}, call)).total).toBe(0n);
  });

  test("releases the campaign lock and keeps the status when the voucher service does not respond", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call);
    network.isUp = false;
    try {
      await expect(campaigns.createCampaignVouchers({ campaignId: id }, call)).rejects.toThrow(
        "unimplemented",
      );
    } finally {
      network.isUp = true;
    }
    await campaigns.createCampaignVouchers({ campaignId: id }, call);
    expect(await campaigns.getCampaign({ campaignId: id }, call)).toMatchObject({
      creationStatus: CampaignStatus.DONE,
      vouchersCount: 1n,
    });
  });
});

describe("CreateVoucher", () => {
  test("adds a voucher with its own values to a gift campaign", async () => {
    const call = newCall();
    const { id } = await campaigns.createCampaign(
      {
        name: "gifts",
        campaignType: CampaignType.GIFT_VOUCHERS,
        voucher: { gift: { amount: 1000n, effect: GiftEffect.APPLY_TO_ORDER } },
      },
      call,
    );
    const type = VoucherType.GIFT_VOUCHER;
    const inherited = await campaigns.createVoucher({ campaign: "gifts", type }, call);
    expect(inherited).toMatchObject({ campaignId: id, gift: { amount: 1000n } });
    const own = await campaigns.createVoucher(
      { campaignId: id, type, code: "OWN", gift: { amount: 50n } },
      call,
    );
    expect(own).toMatchObject({ code: "OWN", gift: { amount: 50n } });
    expect(await countOf(call, id)).toBe(2n);
  });

  test("rejects invalid requests with their keys", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call);
    const { id: promotionId } = await newPromotion(service, call);
    const type = VoucherType.DISCOUNT_VOUCHER;
    await campaigns.createVoucher({ campaignId, type, code: "TAKEN" }, call);
    const attempts: [string, Parameters<typeof campaigns.createVoucher>[0]][] = [
      ["not_found", { campaign: "unknown", type }],
      ["invalid_voucher", { campaignId, type: VoucherType.GIFT_VOUCHER }],
      ["invalid_campaign", { campaignId: promotionId, type }],
      ["duplicate_found", { campaignId, type, code: "TAKEN" }],
      ["invalid_code_config", { campaignId, type, codeConfig: { charset: "" } }],
    ];
    for (const [key, request] of attempts) {
      expect(await rejectionKey(campaigns.createVoucher(request, call))).toBe(key);
    }
    expect(await countOf(call, campaignId)).toBe(1n);
  });
});

describe("ImportCampaignVouchers", () => {
  test("creates vouchers that inherit from the campaign, item by item, and counts them once", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call, {
      expirationDate: instantToProto(NOON - 1),
    });
    const request = {
      campaignId,
      items: [
        { voucher: { code: "I-1", metadata: { a: 1 } } },
        { voucher: { code: "I-2", active: true } },
        { voucher: { code: "I-3", type: VoucherType.GIFT_VOUCHER, gift: { amount: 1n } } },
        { voucher: { code: "I-4", gift: { amount: 1n } } },
        { voucher: { code: "I-1" } },
      ],
    };
    const keyed = { ...call, idempotency: { key: "aa_1:0", requestHash: new Uint8Array([1]) } };
    const { outcomes } = await service.imports.importCampaignVouchers(request, keyed);
    const text = outcomes.map(({ outcome }) =>
      outcome.case === "rejected" ? outcome.value.key : outcome.value,
    );
    const { CREATED } = ItemResult;
    expect(text).toEqual([
      CREATED,
      CREATED,
      "invalid_voucher",
      "invalid_voucher",
      "duplicate_found",
    ]);
    expect(await service.imports.importCampaignVouchers(request, keyed)).toMatchObject({
      outcomes,
    });
    expect(await countOf(call, campaignId)).toBe(2n);
    expect(await vouchers.getVoucher({ code: "I-1" }, call)).toMatchObject({
      campaignId,
      // The campaign has expired.
      active: false,
      discount: { percentOff: "10" },
      metadata: { a: 1 },
    });
    expect(await vouchers.getVoucher({ code: "I-2" }, call)).toMatchObject({ active: true });
  });

  test("shows the generation in progress from the announcement of an import to its end, in any order of calls", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call);
    const { imports } = service;
    const statuses = async () => {
      const campaign = await campaigns.getCampaign({ campaignId }, call);
      return [campaign.creationStatus, campaign.vouchersGenerationStatus];
    };
    const { DONE, IN_PROGRESS } = CampaignStatus;
    const importing = [DONE, IN_PROGRESS];
    const [one, two] = [
      { campaignId, importId: "aa_1" },
      { campaignId, importId: "aa_2" },
    ];
    for (const announced of [one, one, two]) await imports.beginImport(announced, call);
    expect(await statuses()).toEqual(importing);
    const items = [{ voucher: { code: "BATCH" } }];
    await imports.importCampaignVouchers({ campaignId, items }, call);
    const description = "updated while codes are imported";
    await campaigns.updateCampaign(
      { campaignId, description, updateMask: { paths: ["description"] } },
      call,
    );
    await imports.endImport(one, call);
    expect(await statuses()).toEqual(importing);
    const filters = { vouchers_generation_status: { conditions: { $is: ["IN_PROGRESS"] } } };
    const { campaigns: found } = await campaigns.listCampaigns({ filters }, call);
    expect(found.map(({ id }) => id)).toEqual([campaignId]);
    for (const ended of [two, two]) await imports.endImport(ended, call);
    expect(await statuses()).toEqual([DONE, DONE]);
    // The announcement of a request that was slower than its import.
    await imports.beginImport(two, call);
    const early = { campaignId, importId: "aa_3" };
    await imports.endImport(early, call);
    await imports.beginImport(early, call);
    expect(await statuses()).toEqual([DONE, DONE]);
    const unknown = { campaignId: "camp_0", importId: "aa_4" };
    await imports.beginImport(unknown, call);
    await imports.endImport(unknown, call);
  });

  test("ignores the import into a campaign that is deleted permanently at the same time", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call);
    const { db, imports } = service;
    const announced = { campaignId, importId: "aa_1" };
    const calls = await db.transaction(async (tx) => {
      await deleteCampaign(tx, call.project.id, campaignId);
      const both = Promise.allSettled([
        imports.beginImport(announced, call),
        imports.endImport(announced, call),
      ]);
      await expect.poll(() => lockWaits(db.url)).toBe(2);
      return { both };
    });
    expect((await calls.both).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  });

  test("counts the vouchers of a batch once when the response of the voucher service is lost", async () => {
    const call = newCall();
    const { id: campaignId } = await newCoupons(service, call);
    const keyed = { ...call, idempotency: { key: "aa_2:0", requestHash: new Uint8Array([1]) } };
    const request = { campaignId, items: [{ voucher: { code: "LOST" } }] };
    network.losesResponses = true;
    await expect(service.imports.importCampaignVouchers(request, keyed)).rejects.toThrow(
      "unreachable",
    );
    network.losesResponses = false;
    const { outcomes } = await service.imports.importCampaignVouchers(request, keyed);
    expect(outcomes).toMatchObject([{ outcome: { value: ItemResult.CREATED } }]);
    expect(await countOf(call, campaignId)).toBe(1n);
  });

  test("rejects promotions", async () => {
    const call = newCall();
    const { id: campaignId } = await newPromotion(service, call);
    const importing = service.imports.importCampaignVouchers({ campaignId, items: [] }, call);
    expect(await rejectionKey(importing)).toBe("invalid_campaign");
  });
});

describe("GetCampaignSummary", () => {
  test("counts by days of the project's time zone, both days inclusive", async () => {
    const call = newCall({
      project: { ...newCall().project, timeZone: "America/New_York" },
    });
    const { id: campaignId } = await newCoupons(service, call);
    // 23:30 and 00:30 in New York.
    for (const now of ["2026-11-21T04:30:00Z", "2026-11-21T05:30:00Z"]) {
      await campaigns.createCampaignVouchers({ campaignId }, { ...call, now: Date.parse(now) });
    }
    const created = async (range: { readonly startDate?: string; readonly endDate?: string }) =>
      (await campaigns.getCampaignSummary({ campaignId, ...range }, call)).vouchersCreated;
    expect(await created({})).toBe(2n);
    expect(await created({ endDate: "2026-11-20" })).toBe(1n);
    expect(await created({ startDate: "2026-11-21" })).toBe(1n);
    expect(await created({ startDate: "2026-11-20", endDate: "2026-11-21" })).toBe(2n);
    expect(await created({ startDate: "2026-11-22" })).toBe(0n);
  });

  test("rejects an unknown campaign", async () => {
    const summary = campaigns.getCampaignSummary({ campaignId: "camp_unknown" }, newCall());
    expect(await rejectionKey(summary)).toBe("not_found");
  });
});
