import type { MessageInitShape } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  CampaignVoucherService,
  type UpdateVouchersRequestSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import type { CampaignChange } from "../src/domain/campaign-change.ts";
import { routes } from "../src/routes.ts";
import { updateTerms } from "../src/store/campaign-vouchers.ts";
import { voucherInvariants } from "../src/store/invariants.ts";
import { commandOf, createCommit, committedRedemptions } from "./builders.ts";
import { coupon, createdVouchers, createIn, newCampaign, percent } from "./campaign-vouchers.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(service.db)));
const client = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);

const create = createIn(client, service);

/** Whether somebody waits for the lock of a usage in this database. */
async function isWaiting(): Promise<boolean | undefined> {
  const { rows } = await service.db.query<{ waiting: boolean }>(
    `select exists (
       select from pg_locks
        where locktype = 'tuple' and relation = 'voucher_usage'::regclass
          and database = (select oid from pg_database where datname = current_database())
     ) as waiting`,
  );
  return rows[0]?.waiting;
}

const NO_CHANGE: CampaignChange = {
  categoryId: undefined,
  validity: {},
  activityDuration: undefined,
  discount: undefined,
  giftAmount: undefined,
  giftEffect: undefined,
  loyaltyPoints: undefined,
  metadata: {},
  unsetMetadataFields: [],
};

const read = (code: string): Promise<Voucher> =>
  service.vouchers.getVoucher({ code }, service.call());

describe("UpdateVouchers", () => {
  const update = (
    campaignId: string,
    change: Omit<MessageInitShape<typeof UpdateVouchersRequestSchema>, "$typeName">,
    paths: readonly string[],
  ) =>
    client.updateVouchers(
      { campaignId, ...change, updateMask: { paths: [...paths] } },
      service.call({ now: NOON + 1 }),
    );

  test("updates vouchers that are neither published nor redeemed, and increments their versions", async () => {
    const campaign = newCampaign();
    const [fresh, redeemed, held] = createdVouchers(
      await create(campaign, [coupon(), coupon(), coupon()]),
    );
    const [outcome] = await createCommit(service)(commandOf(service, [{ voucher: redeemed! }]));
    committedRedemptions(outcome);
    await publications.createPublication(
      { customer: { id: "cust_1" }, voucher: held!.code },
      service.call(),
    );

    const { updatedCount } = await update(
      campaign.id,
      {
        discount: percent("20"),
        expirationDate: instantToProto(NOON + 5_000),
        validityDayOfWeek: [1, 2],
        categoryId: "cat_1",
      },
      ["discount", "expiration_date", "validity_day_of_week", "category_id"],
    );
    expect(updatedCount).toBe(1n);
    expect(await read(fresh!.code)).toMatchObject({
      discount: { percentOff: "20" },
      expirationDate: instantToProto(NOON + 5_000),
      validityDayOfWeek: [1, 2],
      categoryId: "cat_1",
      updatedAt: instantToProto(NOON + 1),
    });
    for (const { code } of [redeemed!, held!]) {
      expect(await read(code)).toMatchObject({
        discount: { percentOff: "10" },
        categoryId: undefined,
      });
    }
    const [stale] = await createCommit(service)(commandOf(service, [{ voucher: fresh! }]));
    expect(stale?.outcome.case).toBe("stale");
  });

  test("skips vouchers that were redeemed or published while it waited for locks", async () => {
    const campaign = newCampaign();
    const created = createdVouchers(await create(campaign, [coupon(), coupon(), coupon()]));
    const [redeemed, published, free] = created.map(({ id }) => id);
    let updating: Promise<readonly string[]> | undefined;
    await service.db.transaction(async (tx) => {
      const held = [service.projectId, [redeemed, published]];
      await tx.query(
        `select from voucher_usage where project_id = $1 and voucher_id = any($2::text[])
          order by voucher_id for no key update`,
        held,
      );
      updating = service.db.transaction(async (other) => {
        // As patient as the test needs it.
        await other.query("set local lock_timeout = 0");
        await other.query("set local statement_timeout = 0");
        return updateTerms(other, {
          projectId: service.projectId,
          now: NOON + 1,
          ids: created.map(({ id }) => id),
          change: { ...NO_CHANGE, categoryId: "cat_1" },
        });
      });
      await expect.poll(isWaiting, { timeout: 60_000 }).toBe(true);
      await tx.query(
        `update voucher_usage set redeemed_quantity = 1 where project_id = $1 and voucher_id = $2`,
        [service.projectId, redeemed],
      );
      await tx.query(
        `with input as (
           update voucher set publish_count = 1, definition_version = definition_version + 1
            where project_id = $1 and id = $2
           returning id, definition_version)
         update voucher_usage u set definition_version = input.definition_version
           from input where u.project_id = $1 and u.voucher_id = input.id`,
        [service.projectId, published],
      );
    });
    expect(await updating).toEqual([free]);
    const { rows } = await service.db.query(
      `select v.id, v.category_id as category, v.definition_version as own,
              u.definition_version as repeated
         from voucher v
         join voucher_usage u on u.project_id = v.project_id and u.voucher_id = v.id
        where v.project_id = $1 and v.campaign_id = $2
        order by v.id`,
      [service.projectId, campaign.id],
    );
    expect(rows).toEqual([
      { id: redeemed, category: null, own: 1n, repeated: 1n },
      { id: published, category: null, own: 2n, repeated: 2n },
      { id: free, category: "cat_1", own: 2n, repeated: 2n },
    ]);
    // Restores the counter, so that the invariants hold.
    await service.db.query("update voucher_usage set redeemed_quantity = 0 where voucher_id = $1", [
      redeemed,
    ]);
    await service.db.query("update voucher set publish_count = 0 where id = $1", [published]);
  });

  test("skips a voucher whose dates would contradict each other", async () => {
    const campaign = newCampaign();
    const [own, other] = createdVouchers(
      await create(campaign, [coupon({ startDate: instantToProto(NOON + 9_000) }), coupon()]),
    );
    await update(campaign.id, { expirationDate: instantToProto(NOON) }, ["expiration_date"]);
    expect((await read(own!.code)).expirationDate).toBeUndefined();
    expect((await read(other!.code)).expirationDate).toEqual(instantToProto(NOON));
  });

  test("records a changed gift amount in the ledger", async () => {
    const campaign = newCampaign({ campaignType: "GIFT_VOUCHERS" });
    const gift = (amount: bigint) => ({ type: VoucherType.GIFT_VOUCHER, gift: { amount } });
    const [created, empty] = createdVouchers(await create(campaign, [gift(100n), gift(0n)]));
    await update(campaign.id, { giftAmount: 40n }, ["gift_amount"]);
    for (const { code } of [created!, empty!]) {
      expect((await read(code)).gift).toMatchObject({ amount: 40n, balance: 40n });
    }
    for (const { name, checkChunk } of voucherInvariants) {
      const request = { projectId: service.projectId, after: "", limit: 1000 };
      expect((await checkChunk(service.db, request)).violations, name).toEqual([]);
    }
  });

  test("merges metadata into every voucher by key", async () => {
    const campaign = newCampaign();
    const [fresh, redeemed] = createdVouchers(
      await create(campaign, [
        coupon({ metadata: { own: 1, old: true } }),
        coupon({ metadata: { old: true } }),
      ]),
    );
    committedRedemptions(
      (await createCommit(service)(commandOf(service, [{ voucher: redeemed! }])))[0],
    );
    await update(campaign.id, { metadata: { shop: "x" }, unsetMetadataFields: ["old"] }, []);
    expect((await read(fresh!.code)).metadata).toEqual({ own: 1, shop: "x" });
    expect((await read(redeemed!.code)).metadata).toEqual({ shop: "x" });
  });

  test("changes no vouchers of another campaign or project", async () => {
    const [created] = createdVouchers(await create(newCampaign(), [coupon()]));
    const { updatedCount } = await update(newCampaign().id, { categoryId: "cat_1" }, [
      "category_id",
    ]);
    expect(updatedCount).toBe(0n);
    expect(await read(created!.code)).toEqual(created);
  });
});
