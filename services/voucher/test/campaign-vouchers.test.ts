import { randomBytes } from "node:crypto";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  CampaignVoucherService,
  type CreateVoucherOutcome,
  type UpdateVouchersRequestSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import {
  type CreateVoucherRequestSchema,
  type Voucher,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import type { CampaignChange } from "../src/domain/campaign-change.ts";
import { routes } from "../src/routes.ts";
import { updateTerms } from "../src/store/campaign-vouchers.ts";
import { voucherInvariants } from "../src/store/invariants.ts";
import { commandOf, committer, depsOf, madeOf, NOON, startFixture } from "./fixture.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(fixture.db)));
const client = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);

type VoucherInit = MessageInitShape<typeof CreateVoucherRequestSchema>;

const percent = (percentOff: string) => ({ type: DiscountType.PERCENT, percentOff });
const coupon = (more: object = {}): VoucherInit => ({
  type: VoucherType.DISCOUNT_VOUCHER,
  discount: percent("10"),
  ...more,
});

const newCampaign = (more: object = {}) => ({
  id: `camp_${randomBytes(6).toString("hex")}`,
  name: `Spring ${randomBytes(6).toString("hex")}`,
  campaignType: "DISCOUNT_COUPONS",
  vouchersCount: 0n,
  ...more,
});

const create = async (
  campaign: ReturnType<typeof newCampaign>,
  vouchers: readonly VoucherInit[],
): Promise<CreateVoucherOutcome[]> => {
  const items = vouchers.map((voucher) => ({ voucher }));
  return (await client.createVouchers({ campaign, items }, fixture.call())).outcomes;
};

const madeVouchers = (outcomes: readonly CreateVoucherOutcome[]): Voucher[] =>
  outcomes.map(({ outcome }) => {
    if (outcome.case !== "voucher") throw new Error(`refused: ${outcome.value?.details}`);
    return outcome.value;
  });

/** Whether somebody waits for the lock of a usage in this database. */
async function isWaiting(): Promise<boolean | undefined> {
  const { rows } = await fixture.db.query<{ waiting: boolean }>(
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
  fixture.vouchers.getVoucher({ code }, fixture.call());

describe("CreateVouchers", () => {
  test("creates vouchers with their campaign, and rejects items one by one", async () => {
    const campaign = newCampaign();
    const taken = `TAKEN-${campaign.id}`;
    const [first, second, third] = await create(campaign, [
      coupon({ code: taken }),
      coupon({ code: taken }),
      coupon({ codeConfig: { pattern: "S-####" } }),
    ]);
    expect(second?.outcome).toMatchObject({
      case: "rejected",
      value: { key: "duplicate_found", details: `Duplicated voucher exists with id ${taken}` },
    });
    const [made, drawn] = madeVouchers([first!, third!]);
    expect(made).toMatchObject({ campaign: campaign.name, campaignId: campaign.id, code: taken });
    expect(drawn?.code).toMatch(/^S-[0-9A-Za-z]{4}$/);
    expect(await read(taken)).toEqual(made);
  });

  test("creates none with all_or_none when one item is rejected", async () => {
    const campaign = newCampaign();
    const code = `GONE-${campaign.id}`;
    const items = [{ voucher: coupon({ code }) }, { voucher: coupon({ code }) }];
    const { outcomes } = await client.createVouchers(
      { campaign, items, allOrNone: true },
      fixture.call(),
    );
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual(["rejected"]);
    await expect(read(code)).rejects.toMatchObject({ key: "not_found" });
  });

  test("creates referral codes for a referral programme", async () => {
    const [made] = madeVouchers(
      await create(newCampaign({ campaignType: "REFERRAL_PROGRAM" }), [coupon()]),
    );
    expect(made?.isReferralCode).toBe(true);
  });

  test("rejects more codes than a mask allows, including existing codes of the campaign", async () => {
    const campaign = newCampaign();
    const unique = randomBytes(4).toString("hex");
    const codeConfig = { pattern: `${unique}-#-[.]`, charset: "a]^-\\" };
    const three = [coupon({ codeConfig }), coupon({ codeConfig }), coupon({ codeConfig })];
    expect(madeVouchers(await create(campaign, three))).toHaveLength(3);

    const counted = { ...campaign, vouchersCount: 3n };
    const refused = await create(counted, three);
    expect(refused.map(({ outcome }) => outcome.value)).toMatchObject(
      three.map(() => ({
        key: "invalid_code_config",
        details: "Code config allows to generate up to 5 unique codes, requested 3",
      })),
    );
    const rest = await create(counted, three.slice(1));
    expect(new Set(madeVouchers(rest).map(({ code }) => code)).size).toBe(2);
  });

  test("uses the code config of the campaign instead of the project's", async () => {
    const call = fixture.call({ codeConfig: JSON.stringify({ prefix: "PROJECT-" }) });
    const { outcomes } = await client.createVouchers(
      { campaign: newCampaign(), items: [{ voucher: coupon({ codeConfig: { length: 9n } }) }] },
      call,
    );
    expect(madeVouchers(outcomes)[0]?.code).toMatch(/^[0-9A-Za-z]{9}$/);
  });
});

describe("UpdateVouchers", () => {
  const update = (
    campaignId: string,
    change: Omit<MessageInitShape<typeof UpdateVouchersRequestSchema>, "$typeName">,
    paths: readonly string[],
  ) =>
    client.updateVouchers(
      { campaignId, ...change, updateMask: { paths: [...paths] } },
      fixture.call({ now: NOON + 1 }),
    );

  test("updates vouchers that are neither published nor redeemed, and increments their versions", async () => {
    const campaign = newCampaign();
    const [fresh, redeemed, held] = madeVouchers(
      await create(campaign, [coupon(), coupon(), coupon()]),
    );
    const [outcome] = await committer(fixture)(commandOf(fixture, [{ voucher: redeemed! }]));
    madeOf(outcome);
    await publications.createPublication(
      { customer: { id: "cust_1" }, voucher: held!.code },
      fixture.call(),
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
    const [stale] = await committer(fixture)(commandOf(fixture, [{ voucher: fresh! }]));
    expect(stale?.outcome.case).toBe("stale");
  });

  test("skips vouchers that were redeemed or published while it waited for locks", async () => {
    const campaign = newCampaign();
    const made = madeVouchers(await create(campaign, [coupon(), coupon(), coupon()]));
    const [redeemed, published, free] = made.map(({ id }) => id);
    let updating: Promise<readonly string[]> | undefined;
    await fixture.db.transaction(async (tx) => {
      const held = [fixture.projectId, [redeemed, published]];
      await tx.query(
        `select from voucher_usage where project_id = $1 and voucher_id = any($2::text[])
          order by voucher_id for no key update`,
        held,
      );
      updating = fixture.db.transaction(async (other) => {
        // As patient as the test needs it.
        await other.query("set local lock_timeout = 0");
        await other.query("set local statement_timeout = 0");
        return updateTerms(other, {
          projectId: fixture.projectId,
          now: NOON + 1,
          ids: made.map(({ id }) => id),
          change: { ...NO_CHANGE, categoryId: "cat_1" },
        });
      });
      await expect.poll(isWaiting, { timeout: 60_000 }).toBe(true);
      await tx.query(
        `update voucher_usage set redeemed_quantity = 1 where project_id = $1 and voucher_id = $2`,
        [fixture.projectId, redeemed],
      );
      await tx.query(
        `with given as (
           update voucher set publish_count = 1, definition_version = definition_version + 1
            where project_id = $1 and id = $2
           returning id, definition_version)
         update voucher_usage u set definition_version = given.definition_version
           from given where u.project_id = $1 and u.voucher_id = given.id`,
        [fixture.projectId, published],
      );
    });
    expect(await updating).toEqual([free]);
    const { rows } = await fixture.db.query(
      `select v.id, v.category_id as category, v.definition_version as own,
              u.definition_version as repeated
         from voucher v
         join voucher_usage u on u.project_id = v.project_id and u.voucher_id = v.id
        where v.project_id = $1 and v.campaign_id = $2
        order by v.id`,
      [fixture.projectId, campaign.id],
    );
    expect(rows).toEqual([
      { id: redeemed, category: null, own: 1n, repeated: 1n },
      { id: published, category: null, own: 2n, repeated: 2n },
      { id: free, category: "cat_1", own: 2n, repeated: 2n },
    ]);
    // As the books have it, for those who check them.
    await fixture.db.query("update voucher_usage set redeemed_quantity = 0 where voucher_id = $1", [
      redeemed,
    ]);
    await fixture.db.query("update voucher set publish_count = 0 where id = $1", [published]);
  });

  test("skips a voucher whose dates would contradict each other", async () => {
    const campaign = newCampaign();
    const [own, other] = madeVouchers(
      await create(campaign, [coupon({ startDate: instantToProto(NOON + 9_000) }), coupon()]),
    );
    await update(campaign.id, { expirationDate: instantToProto(NOON) }, ["expiration_date"]);
    expect((await read(own!.code)).expirationDate).toBeUndefined();
    expect((await read(other!.code)).expirationDate).toEqual(instantToProto(NOON));
  });

  test("records a changed gift amount in the ledger", async () => {
    const campaign = newCampaign({ campaignType: "GIFT_VOUCHERS" });
    const gift = (amount: bigint) => ({ type: VoucherType.GIFT_VOUCHER, gift: { amount } });
    const [made, empty] = madeVouchers(await create(campaign, [gift(100n), gift(0n)]));
    await update(campaign.id, { giftAmount: 40n }, ["gift_amount"]);
    for (const { code } of [made!, empty!]) {
      expect((await read(code)).gift).toMatchObject({ amount: 40n, balance: 40n });
    }
    for (const { name, checkChunk } of voucherInvariants) {
      const request = { projectId: fixture.projectId, after: "", limit: 1000 };
      expect((await checkChunk(fixture.db, request)).violations, name).toEqual([]);
    }
  });

  test("merges metadata into every voucher by key", async () => {
    const campaign = newCampaign();
    const [fresh, redeemed] = madeVouchers(
      await create(campaign, [
        coupon({ metadata: { own: 1, old: true } }),
        coupon({ metadata: { old: true } }),
      ]),
    );
    madeOf((await committer(fixture)(commandOf(fixture, [{ voucher: redeemed! }])))[0]);
    await update(campaign.id, { metadata: { shop: "x" }, unsetMetadataFields: ["old"] }, []);
    expect((await read(fresh!.code)).metadata).toEqual({ own: 1, shop: "x" });
    expect((await read(redeemed!.code)).metadata).toEqual({ shop: "x" });
  });

  test("changes no vouchers of another campaign or project", async () => {
    const [made] = madeVouchers(await create(newCampaign(), [coupon()]));
    const { updatedCount } = await update(newCampaign().id, { categoryId: "cat_1" }, [
      "category_id",
    ]);
    expect(updatedCount).toBe(0n);
    expect(await read(made!.code)).toEqual(made);
  });
});

test("ListVouchers finds vouchers by the name and by the id of their campaign", async () => {
  const campaign = newCampaign();
  const made = madeVouchers(await create(campaign, [coupon(), coupon()]));
  await create(newCampaign(), [coupon()]);
  for (const query of [
    { campaign: campaign.name },
    { campaignId: campaign.id },
    { filters: { campaign: { conditions: { $is: campaign.name } } } },
  ]) {
    const { vouchers, total } = await fixture.vouchers.listVouchers(query, fixture.call());
    expect(total).toBe(2n);
    expect(new Set(vouchers.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)));
  }
});
