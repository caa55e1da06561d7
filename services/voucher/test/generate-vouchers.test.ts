import { createHash, randomBytes } from "node:crypto";

import { fromBinary } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CampaignVouchersDeletedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { commandOf } from "./builders.ts";
import { race } from "./concurrency.ts";
import { checkInvariants, depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const startProcess = () =>
  clientOf(CampaignVoucherService, createDirectTransport(routes(depsOf(service.db))));
const [client, replica] = [startProcess(), startProcess()];

const newCampaign = (campaignType = "DISCOUNT_COUPONS") => {
  const suffix = randomBytes(6).toString("hex");
  return { id: `camp_${suffix}`, name: `Spring ${suffix}`, campaignType, vouchersCount: 0n };
};

const coupon = (codeConfig: object) => ({
  voucher: {
    type: VoucherType.DISCOUNT_VOUCHER,
    discount: { type: DiscountType.PERCENT, percentOff: "10" },
    redemption: { quantity: 1n },
    codeConfig,
  },
});

const underKey = (key: string) => ({
  ...service.call(),
  idempotency: { key, requestHash: createHash("sha256").update(key).digest() },
});

const list = (campaignId: string, more: object = {}) =>
  service.vouchers.listVouchers({ campaignId, limit: 100n, ...more }, service.call());

describe("GenerateVouchers", () => {
  test("creates the requested number of vouchers, which differ in their codes only", async () => {
    const campaign = newCampaign();
    const item = coupon({ pattern: `${campaign.id}-####` });
    expect(
      await client.generateVouchers({ campaign, item, count: 1200n }, service.call()),
    ).toMatchObject({ generatedCount: 1200n });
    const { vouchers, total } = await list(campaign.id);
    expect(total).toBe(1200n);
    expect(new Set(vouchers.map(({ code }) => code)).size).toBe(100);
    expect(vouchers[0]).toMatchObject({
      campaign: campaign.name,
      campaignId: campaign.id,
      discount: { percentOff: "10" },
      redemption: { quantity: 1n, redeemedQuantity: 0n },
    });
    // The ids of the images decrypt to the codes.
    for (const { code, assets } of vouchers.slice(0, 3)) {
      const id = assets?.qr?.id ?? "";
      expect(depsOf(service.db).assets.open(id)).toBe(code);
    }
  });

  test("creates gift vouchers with a ledger that adds up", async () => {
    const campaign = newCampaign("GIFT_VOUCHERS");
    const item = { voucher: { type: VoucherType.GIFT_VOUCHER, gift: { amount: 500n } } };
    await client.generateVouchers({ campaign, item, count: 20n }, service.call());
    const { vouchers } = await list(campaign.id);
    expect(vouchers.map(({ gift }) => gift?.balance)).toEqual(Array(20).fill(500n));
    await checkInvariants(service);
  });

  test("uses up all codes of a small mask, also in races, and then rejects without effect", async () => {
    const campaign = newCampaign();
    const item = coupon({ prefix: campaign.id, pattern: "##", charset: "0123456789" });
    const counts = [25n, 25n, 25n, 20n];
    await Promise.all(
      counts.map((count, index) =>
        (index % 2 === 0 ? client : replica).generateVouchers(
          { campaign, item, count },
          service.call(),
        ),
      ),
    );
    await expect(
      client.generateVouchers({ campaign, item, count: 6n }, service.call()),
    ).rejects.toMatchObject({ key: "invalid_code_config" });
    await client.generateVouchers({ campaign, item, count: 5n }, service.call());
    const { vouchers, total } = await list(campaign.id);
    expect(total).toBe(100n);
    expect(new Set(vouchers.map(({ code }) => code)).size).toBe(100);
    expect(
      await client.countCodes(
        { campaignId: campaign.id, codeConfig: item.voucher.codeConfig },
        service.call(),
      ),
    ).toMatchObject({ count: 100n });
  });

  test("never draws a code that paths reserve", async () => {
    const campaign = newCampaign();
    const item = coupon({ pattern: "expor#", charset: "tT" });
    await expect(
      client.generateVouchers({ campaign, item, count: 2n }, service.call()),
    ).rejects.toMatchObject({ key: "invalid_code_config" });
    await client.generateVouchers({ campaign, item, count: 1n }, service.call());
    expect((await list(campaign.id)).vouchers.map(({ code }) => code)).toEqual(["exporT"]);
  });

  test("draws codes that are free in the whole project, whose case may not matter", async () => {
    const call = { ...service.call({ caseSensitiveCodes: false }) };
    const [first, second] = [newCampaign(), newCampaign()];
    const config = (charset: string) => coupon({ prefix: first.id, pattern: "#", charset });
    await client.generateVouchers({ campaign: first, item: config("ab"), count: 2n }, call);
    await client.generateVouchers({ campaign: second, item: config("ABC"), count: 1n }, call);
    expect((await list(second.id)).vouchers.map(({ code }) => code)).toEqual([`${first.id}C`]);
  });

  test("has one effect under an idempotency key, also when two processes try concurrently", async () => {
    const campaign = newCampaign();
    const request = { campaign, item: coupon({ length: 12n }), count: 50n };
    const key = `slice ${campaign.id}`;
    const attempt = (one: typeof client) =>
      one.generateVouchers(request, underKey(key)).catch((error: unknown) => error);
    await Promise.all([attempt(client), attempt(replica), attempt(client)]);
    expect(await client.generateVouchers(request, underKey(key))).toMatchObject({
      generatedCount: 50n,
    });
    expect((await list(campaign.id)).total).toBe(50n);
  });
});

describe("DeleteVouchers", () => {
  const deleteAll = async (campaignId: string, { limit = 7n, purge = false } = {}) => {
    const counts = { deleted: 0n, live: 0n };
    let afterVoucherId = "";
    do {
      const slice = await client.deleteVouchers(
        { campaignId, afterVoucherId, limit, purge },
        service.call(),
      );
      counts.deleted += slice.deletedCount;
      counts.live += slice.liveCount;
      afterVoucherId = slice.lastVoucherId;
    } while (afterVoucherId !== "");
    return counts;
  };

  test("hides the vouchers of a campaign, keeps their codes reserved, and frees them for good", async () => {
    const campaign = newCampaign("GIFT_VOUCHERS");
    const [first, second] = ["FIRST", "SECOND"].map((name) => `${name}-${campaign.id}`);
    const gift = { type: VoucherType.GIFT_VOUCHER, gift: { amount: 500n } };
    const items = [
      { ...gift, code: first },
      { ...gift, code: second },
    ].map((voucher) => ({ voucher }));
    const { outcomes } = await client.createVouchers({ campaign, items }, service.call());
    const [used] = outcomes.map(({ outcome }) =>
      outcome.case === "voucher" ? outcome.value : undefined,
    );
    await race(service, [[commandOf(service, [{ voucher: used!, credits: 100n }])]]);

    expect(await deleteAll(campaign.id)).toEqual({ deleted: 2n, live: 2n });
    expect(await list(campaign.id)).toMatchObject({ total: 0n });
    for (const code of [first!, used!.id]) {
      await expect(service.vouchers.getVoucher({ code }, service.call())).rejects.toMatchObject({
        key: "not_found",
      });
    }
    const again = { ...gift, code: first };
    await expect(service.vouchers.createVoucher(again, service.call())).rejects.toMatchObject({
      key: "duplicate_found",
    });
    await expect(
      client.generateVouchers({ campaign, item: { voucher: gift }, count: 1n }, service.call()),
    ).rejects.toMatchObject({ key: "not_found" });

    expect(await deleteAll(campaign.id, { purge: true })).toEqual({ deleted: 2n, live: 0n });
    await service.vouchers.createVoucher(again, service.call());
    // A redemption refers to its voucher; the other one left nothing behind.
    const { rows } = await service.db.query(
      "select id, code_key from voucher where campaign_id = $1",
      [campaign.id],
    );
    expect(rows).toEqual([{ id: used!.id, code_key: null }]);
    await checkInvariants(service);
  });

  test("lists each voucher in one event, and counts a repeated slice once", async () => {
    const campaign = newCampaign();
    await client.generateVouchers(
      { campaign, item: coupon({ length: 12n }), count: 20n },
      service.call(),
    );
    const slice = { campaignId: campaign.id, limit: 15n };
    const once = await client.deleteVouchers(slice, underKey(`delete ${campaign.id}`));
    expect(await client.deleteVouchers(slice, underKey(`delete ${campaign.id}`))).toEqual(once);
    await deleteAll(campaign.id);
    const { rows } = await service.db.query<{ payload: Buffer }>(
      "select payload from outbox where key = $1",
      [campaign.id],
    );
    const ids = rows.flatMap(
      ({ payload }) => fromBinary(CampaignVouchersDeletedSchema, payload).voucherIds,
    );
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  test("leaves counters exact when it races with redemptions: each commits before or is rejected", async () => {
    const campaign = newCampaign();
    await client.generateVouchers(
      { campaign, item: coupon({ length: 12n }), count: 60n },
      service.call(),
    );
    const { vouchers } = await list(campaign.id);
    const commands = vouchers.flatMap((voucher) =>
      [1, 2].map(() => [commandOf(service, [{ voucher }])]),
    );
    const [outcomes] = await Promise.all([
      race(service, commands),
      deleteAll(campaign.id, { limit: 5n }),
      deleteAll(campaign.id, { limit: 9n, purge: true }),
    ]);
    const kinds = outcomes.map(({ outcome }) =>
      outcome.case === "rejected" ? outcome.value.key : outcome.case,
    );
    expect(new Set(kinds)).toEqual(
      new Set(
        kinds.filter((kind) =>
          ["committed", "not_found", "quantity_exceeded"].includes(String(kind)),
        ),
      ),
    );
    const { rows } = await service.db.query<{ count: bigint }>(
      "select count(*) as count from redemption where status = 'SUCCEEDED' and voucher_id = any($1)",
      [vouchers.map(({ id }) => id)],
    );
    expect(rows[0]?.count).toBe(BigInt(kinds.filter((kind) => kind === "committed").length));
    expect((await list(campaign.id)).total).toBe(0n);
    await checkInvariants(service);
  });
});
