import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { type DeliveredEvent, type Origin, originOf } from "@scrip/events";
import { newId, timePart } from "@scrip/ids";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  ReferralCodeRedeemedSchema,
  ReferralConvertedSchema,
  ReferralRewardedSchema,
} from "@scrip/proto/scrip/events/v1/referrals_pb";
import {
  CampaignVoucherService,
  type VoucherCampaignSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import type { Deps } from "../src/deps.ts";
import { onReferral } from "../src/events/on-referral.ts";
import { REFERRALS_TOPIC } from "../src/events/referrals.ts";
import { payDueRewards } from "../src/jobs/pay-referral-rewards.ts";
import { convertReferral } from "../src/referral/convert.ts";
import { payReward } from "../src/referral/pay-reward.ts";
import { routes } from "../src/routes.ts";
import { takeDueRewards } from "../src/store/referral-rewards.ts";
import { commandOf, committedRedemptions, createCommit } from "./builders.ts";
import { checkInvariants, depsOf, NOON, startTestService, type TestService } from "./deps.ts";

const ORIGIN: Origin = {
  requestId: "v-0123456789abcdef01",
  caller: { side: "server", id: "app_1", name: "POS" },
};
const TEN_PERCENT = {
  voucher: {
    type: VoucherType.DISCOUNT_VOUCHER,
    discount: { type: DiscountType.PERCENT, percentOff: "10" },
  },
};
const GIFT = { voucher: { type: VoucherType.GIFT_VOUCHER, gift: { amount: 100n } } };
const CARD = { voucher: { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 7n } } };

describe("referral conversions", () => {
  let service: TestService;
  let deps: Deps;
  beforeAll(async () => {
    service = await startTestService();
    deps = {
      ...depsOf(service.db),
      onError: (error) => expect.unreachable(error.message),
      findProject: ({ projectId }) => ({
        project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true },
        sandboxNow: NOON,
        deleted: false,
      }),
    };
  });
  afterAll(() => service[Symbol.asyncDispose]());
  afterEach(() => checkInvariants(service));

  const clients = () => {
    const transport = createDirectTransport(routes(deps));
    return {
      campaigns: clientOf(CampaignVoucherService, transport),
      publications: clientOf(PublicationService, transport),
    };
  };
  type Terms = NonNullable<MessageInitShape<typeof VoucherCampaignSchema>["referral"]>;

  let count = 0;
  const campaign = async (
    campaignType: string,
    { item, ...fields }: { item: typeof TEN_PERCENT | typeof GIFT | typeof CARD; referral?: Terms },
  ): Promise<{ id: string; name: string; campaignType: string }> => {
    count += 1;
    const created = { id: `camp_${count}`, name: `Campaign ${count}`, campaignType };
    await clients().campaigns.createVouchers(
      { campaign: { ...created, template: item, ...fields }, items: [] },
      service.call(),
    );
    return created;
  };
  const publish = async (name: string, customer: string): Promise<Voucher> => {
    const request = { customer: { id: customer }, campaign: { name } };
    const { voucher } = await clients().publications.createPublication(request, service.call());
    if (voucher === undefined) throw new Error("nothing was published");
    return voucher;
  };
  /** A program whose code the referrer holds. */
  const program = async (referral: Terms, referrer = `cust_referrer_${count}`) => {
    const created = await campaign("REFERRAL_PROGRAM", { item: TEN_PERCENT, referral });
    return { ...created, referrer, code: await publish(created.name, referrer) };
  };
  const convert = (code: Voucher, customerId: string, id = newId("r")) =>
    convertReferral(deps, {
      projectId: service.projectId,
      voucherId: code.id,
      customerId,
      cause: { type: "redemption", id },
      at: NOON,
      origin: ORIGIN,
    });
  const payAll = async (): Promise<void> => {
    while ((await payDueRewards(deps)) > 0);
  };
  const balances = async (campaignId: string) => {
    const { rows } = await service.db.query<{ holder_id: string; amount: bigint; balance: bigint }>(
      `select v.holder_id, u.amount, u.balance
         from voucher v join voucher_usage u on u.voucher_id = v.id
        where v.campaign_id = $1 and v.holder_id is not null
        order by v.holder_id`,
      [campaignId],
    );
    return rows.map((row) => [row.holder_id, row.amount, row.balance]);
  };
  const eventsOf = async <Schema extends Parameters<typeof fromBinary>[0]>(
    schema: Schema,
    programId: string,
  ) => {
    const { rows } = await service.db.query<{ payload: Uint8Array }>(
      "select payload from outbox where type = $1 order by created_at, id",
      [schema.typeName],
    );
    return rows
      .map(({ payload }) => fromBinary(schema, payload))
      .filter((event) => JSON.stringify(Object.values(event).map(String)).includes(programId));
  };
  const gift = (campaignId: string, amount = 50n) => ({
    campaignId,
    voucherType: "GIFT_VOUCHER",
    amount,
  });
  const delivered = (event: { id: string; key: string; payload: Uint8Array }): DeliveredEvent => ({
    ...event,
    topic: REFERRALS_TOPIC,
    projectId: service.projectId,
    type: ReferralCodeRedeemedSchema.typeName,
    headers: {},
    occurredAt: new Date(NOON),
    partition: 0,
    offset: 0n,
  });

  test("a redemption of a referral code emits an event of its own, and other redemptions do not", async () => {
    const { code, referrer } = await program({ conversionEventType: "redemption" });
    const plain = await service.vouchers.createVoucher(
      { code: "PLAIN", ...TEN_PERCENT.voucher },
      service.call(),
    );
    const commit = createCommit(service);
    const [outcome] = await commit(
      commandOf(service, [{ voucher: code }], {
        customerId: "cust_friend",
        parts: [
          { redeemable: { case: "voucherId", value: code.id }, definitionVersion: 2n, credits: 0n },
        ],
      }),
    );
    const [redemption] = committedRedemptions(outcome);
    committedRedemptions(
      (await commit(commandOf(service, [{ voucher: plain }], { customerId: "cust_friend" })))[0],
    );
    const { rows } = await service.db.query<{ id: string; key: string; payload: Uint8Array }>(
      "select id, key, payload from outbox where topic = $1 and type = $2",
      [REFERRALS_TOPIC, ReferralCodeRedeemedSchema.typeName],
    );
    expect(rows).toHaveLength(1);
    const handler = onReferral(deps);
    const batch = rows.map(delivered);
    await handler([...batch, ...batch], {
      group: "voucher-referrals",
      topic: REFERRALS_TOPIC,
      signal: new AbortController().signal,
    });
    const conversions = await eventsOf(ReferralConvertedSchema, code.id);
    expect(conversions).toMatchObject([
      {
        referrerId: referrer,
        refereeId: "cust_friend",
        relatedObjectType: "redemption",
        relatedObjectId: redemption?.id,
      },
    ]);
  });

  test("concurrent conversions count a referee once, and each reward is paid once by several processes", async () => {
    const gifts = await campaign("GIFT_VOUCHERS", { item: GIFT });
    const { id, code, referrer } = await program({
      conversionEventType: "redemption",
      refereeReward: gift(gifts.id, 20n),
      referrerReward: gift(gifts.id, 50n),
    });
    const friends = Array.from({ length: 8 }, (_, index) => `cust_friend_${count}_${index}`);
    await Promise.all([...friends, ...friends, ...friends].map((one) => convert(code, one)));
    await convert(code, referrer);
    await Promise.all([payAll(), payAll(), payAll()]);
    expect(await eventsOf(ReferralConvertedSchema, id)).toHaveLength(8);
    expect(await eventsOf(ReferralRewardedSchema, id)).toHaveLength(16);
    expect(await balances(gifts.id)).toEqual([
      ...friends.map((friend) => [friend, 120n, 120n]),
      [referrer, 500n, 500n],
    ]);
  });

  test("an attempt that was taken twice, as after a crash, pays once", async () => {
    const gifts = await campaign("GIFT_VOUCHERS", { item: GIFT });
    const { code } = await program({
      conversionEventType: "redemption",
      refereeReward: gift(gifts.id),
    });
    await convert(code, "cust_crash");
    const due = await takeDueRewards(service.db, 10);
    expect(due).toHaveLength(1);
    // Taken rewards are left alone until their next attempt.
    expect(await takeDueRewards(service.db, 10)).toEqual([]);
    await Promise.all([...due, ...due, ...due].map((reward) => payReward(deps, reward)));
    expect(await balances(gifts.id)).toEqual([["cust_crash", 150n, 150n]]);
  });

  test("a conversion and its rewards name the request that caused them", async () => {
    const gifts = await campaign("GIFT_VOUCHERS", { item: GIFT });
    const { code } = await program({
      conversionEventType: "redemption",
      refereeReward: gift(gifts.id),
    });
    await service.db.query("delete from outbox");
    await convert(code, "cust_origin");
    await payAll();
    const { rows } = await service.db.query<{ type: string; headers: Record<string, string> }>(
      "select type, headers from outbox",
    );
    expect(new Set(rows.map(({ type }) => type.split(".").at(-1)))).toEqual(
      new Set([
        "ReferralConverted",
        "HolderAssigned",
        "VoucherPublished",
        "GiftBalanceAdjusted",
        "ReferralRewarded",
      ]),
    );
    for (const { headers } of rows) expect(originOf({ headers })).toEqual(ORIGIN);
  });

  test("points are announced for the card that the customer has or gets", async () => {
    const cards = await campaign("LOYALTY_PROGRAM", { item: CARD });
    const { id, code } = await program({
      conversionEventType: "redemption",
      refereeReward: { campaignId: cards.id, voucherType: "LOYALTY_CARD", amount: 30n },
    });
    const card = await publish(cards.name, "cust_member");
    await convert(code, "cust_member");
    await convert(code, "cust_stranger");
    await payAll();
    const rewarded = await eventsOf(ReferralRewardedSchema, id);
    expect(rewarded).toMatchObject([
      { customerId: "cust_member", voucherId: card.id, points: 30n, initialPoints: 7n },
      { customerId: "cust_stranger", campaignId: cards.id, points: 30n, initialPoints: 7n },
    ]);
  });

  test("a reward that cannot be paid leaves the conversion, and is paid later", async () => {
    const gifts = await campaign("GIFT_VOUCHERS", { item: GIFT });
    const { campaigns } = clients();
    const setActive = (active: boolean) =>
      campaigns.updateVouchers({ campaignId: gifts.id, active }, service.call());
    const { id, code } = await program({
      conversionEventType: "redemption",
      refereeReward: gift(gifts.id),
    });
    await setActive(false);
    await convert(code, "cust_late");
    await payAll();
    expect(await eventsOf(ReferralConvertedSchema, id)).toHaveLength(1);
    const reward = async () =>
      (
        await service.db.query(
          "select status, attempts, reason from referral_reward where referral_campaign_id = $1",
          [id],
        )
      ).rows;
    expect(await reward()).toEqual([
      {
        status: "PENDING",
        attempts: 1,
        reason: `invalid_campaign: Campaign ${gifts.id} is disabled`,
      },
    ]);
    await setActive(true);
    await service.db.query(
      "update referral_reward set next_attempt_at = now() where status = 'PENDING'",
    );
    await payAll();
    expect(await reward()).toMatchObject([{ status: "PAID", attempts: 2, reason: null }]);
    expect(await balances(gifts.id)).toEqual([["cust_late", 150n, 150n]]);
  });

  test.each([
    [29, "PENDING"],
    [31, "FAILED"],
  ])(
    "a reward that cannot be paid after %i days is %s, whatever the clock of a sandbox",
    async (days, status) => {
      const gifts = await campaign("GIFT_VOUCHERS", { item: GIFT });
      const { id, code } = await program({
        conversionEventType: "redemption",
        refereeReward: gift(gifts.id),
      });
      await clients().campaigns.updateVouchers(
        { campaignId: gifts.id, active: false },
        service.call(),
      );
      await convert(code, "cust_never");
      const of = [service.projectId, id];
      const inUse = "project_id = $1 and referral_campaign_id = $2";
      for (const created of ["2020-01-01", "2099-01-01"]) {
        await service.db.query(
          `update referral_reward
            set created_at = $3, id = $4, status = 'PENDING', next_attempt_at = now() where ${inUse}`,
          [...of, created, `rrw_${timePart(Date.now() - days * 86_400_000)}000000`],
        );
        await payAll();
        const { rows } = await service.db.query(
          `select status from referral_reward where ${inUse}`,
          of,
        );
        expect(rows).toEqual([{ status }]);
      }
      await service.db.query(
        `update referral_reward set status = 'CANCELED', next_attempt_at = null where ${inUse}`,
        of,
      );
    },
  );

  test("tiers pay for each referee, for every second one, and once at the minimum", async () => {
    const gifts = await campaign("GIFT_VOUCHERS", { item: GIFT });
    const created = await program({ conversionEventType: "redemption" });
    const tier = (id: string, condition: string, referees: bigint, amount: bigint) => ({
      id,
      condition,
      count: referees,
      reward: gift(gifts.id, amount),
    });
    await clients().campaigns.updateVouchers(
      {
        campaignId: created.id,
        referralTiers: {
          tiers: [
            tier("rtr_each", "EACH_UNIQUE_REFEREE", 1n, 1n),
            tier("rtr_second", "EACH_UNIQUE_REFEREE", 2n, 10n),
            tier("rtr_minimum", "MINIMUM_UNIQUE_REFEREES", 3n, 1_000n),
          ],
        },
      },
      service.call(),
    );
    const second = await publish(created.name, created.referrer);
    const friends = Array.from({ length: 5 }, (_, index) => `cust_tier_${index}`);
    await Promise.all(friends.map((friend) => convert(created.code, friend)));
    // A referee of the same referrer and program is not new with another code.
    await convert(second, "cust_tier_0");
    await payAll();
    const paid = 100n + 5n * 1n + 2n * 10n + 1_000n;
    expect(await balances(gifts.id)).toEqual([[created.referrer, paid, paid]]);
  });

  test("a program converts by its own kind of event only", async () => {
    const { id, code } = await program({
      conversionEventType: "custom_event",
      eventName: "signed_up",
    });
    const send = (customerId: string, name: string, schemaId: string | null = null) =>
      convertReferral(deps, {
        projectId: service.projectId,
        voucherId: code.id,
        customerId,
        cause: { type: "event", id: newId("event"), name, schemaId },
        at: NOON,
        origin: ORIGIN,
      });
    await convert(code, "cust_redeemer");
    await send("cust_other", "looked_around");
    await send("cust_event", "signed_up");
    await clients().campaigns.updateVouchers({ campaignId: id, active: false }, service.call());
    await send("cust_too_late", "signed_up");
    const conversions = await eventsOf(ReferralConvertedSchema, id);
    expect(conversions).toMatchObject([{ refereeId: "cust_event", relatedObjectType: "event" }]);
  });
});
