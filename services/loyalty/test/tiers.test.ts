import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import { LoyaltyTiersChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { afterAll, describe, expect, test } from "vitest";

import { POINTS_TOPIC } from "../src/events/topics.ts";
import { movePoints } from "../src/points/move-points.ts";
import { deliveryFrom, newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, storeProgram } from "./earning-programs.ts";
import { BRONZE, GOLD, SILVER, tiersIn, voucherOf } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, tiers, rewards, cards, customers, earningRules } = loyalty;
const { earn, join } = earningIn(loyalty);
const { program, consume, deps } = tiersIn(loyalty);

describe("loyalty tiers", () => {
  test("follow the balance of a card, are joined with it, and are listed by ListMemberTiers", async () => {
    const club = await program([BRONZE, SILVER, GOLD]);
    const { cardId } = await join(club);
    await club.deliver();
    await club.move(cardId, 100n);
    await club.move(cardId, 400n);
    await club.move(cardId, -450n);
    expect(club.changes).toEqual([
      "2026-03-01 joined Bronze",
      "2026-03-01 upgraded Silver",
      "2026-03-01 upgraded Gold",
      "2026-03-01 downgraded Bronze",
    ]);
    expect(await club.tierOf(cardId)).toMatchObject({
      name: "Bronze",
      expiration: { startDate: "2026-03-01", campaignId: club.campaignId },
    });
    expect(await club.violations()).toEqual([]);
  });

  test("see every balance in between, once, whatever is delivered how often and how late", async () => {
    const policy = { expiration_date: { type: "CUSTOM", extend: "P1M" } };
    const club = await program([SILVER, GOLD], { policy });
    const { cardId } = await join(club);
    const card = {
      projectId: club.projectId,
      cardId,
      initialPoints: 0n,
      campaignId: club.campaignId,
    };
    const movement = { card, cause: newId("vtx"), at: NOON, expiredBefore: "2026-03-01" };
    await db.transaction((tx) =>
      movePoints(tx, deps, [
        { ...movement, type: "POINTS_ADDITION", points: 500n },
        { ...movement, cause: newId("vtx"), type: "POINTS_REMOVAL", points: 500n },
      ]),
    );
    const moved = newEvent(
      PointsMovedSchema,
      { projectId: club.projectId, topic: POINTS_TOPIC },
      { projectId: club.projectId, cardId, campaignId: club.campaignId },
    );
    await Promise.all([1, 2, 3].map(() => consume([moved, moved], deliveryFrom(POINTS_TOPIC))));
    await club.deliver();
    await consume([moved], deliveryFrom(POINTS_TOPIC));
    await club.deliver();
    expect(club.changes).toEqual(["2026-03-01 joined Gold 2026-04-01"]);
    await club.setClock("2026-05-10");
    await club.setClock("2026-05-11");
    expect(club.changes.slice(1)).toEqual(["2026-04-02 left Gold"]);
  });

  test("count the points of a period, and end and start with it, also across a year", async () => {
    const policy = {
      qualification_type: "POINTS_IN_PERIOD",
      qualification_period: "QUARTER",
      start_date: { type: "NEXT_PERIOD" },
      expiration_date: { type: "END_OF_PERIOD" },
    };
    const club = await program([SILVER, GOLD], { policy });
    const { cardId } = await join(club);
    await club.move(cardId, 500n);
    await club.move(cardId, -500n);
    expect(await club.tierOf(cardId)).toBeUndefined();
    await club.setClock("2026-04-02");
    await club.move(cardId, 120n);
    await club.setClock("2027-04-01");
    expect(club.changes).toEqual([
      "2026-04-01 joined Gold 2026-06-30",
      "2026-07-01 downgraded Silver 2026-09-30",
      "2026-10-01 left Silver",
    ]);
  });

  test("evaluate the members that a program has when tiers are created, changed and deleted", async () => {
    const club = await program([]);
    const members = [await join(club), await join(club), await join(club)];
    for (const [at, { cardId }] of members.entries())
      await club.move(cardId, BigInt(at) * 100n + 1n);
    const call = club.call;
    const { campaignId } = club;
    const { tiers: created } = await tiers.createLoyaltyTiers(
      { campaignId, tiers: [SILVER] },
      call,
    );
    await club.deliver();
    expect(club.changes).toEqual(["2026-03-01 joined Silver", "2026-03-01 joined Silver"]);
    const tierId = created[0]!.id;
    const count = async (createdAt: object) =>
      (await tiers.listLoyaltyTiers({ campaignId, createdAt }, call)).total;
    expect(await count({ before: { seconds: 4_000_000_000n } })).toBe(1n);
    expect(await count({ after: { seconds: 4_000_000_000n } })).toBe(0n);
    const points = { from: 200n, to: 400n };
    await tiers.updateLoyaltyTier(
      { campaignId, tierId, points, updateMask: { paths: ["points"] } },
      call,
    );
    await club.deliver();
    expect(club.changes.slice(2)).toEqual(["2026-03-01 left Silver"]);
    await tiers.deleteLoyaltyTier({ campaignId, tierId }, call);
    await club.deliver();
    expect(club.changes.slice(3)).toEqual(["2026-03-01 left Silver"]);
    await expect(tiers.getLoyaltyTier({ campaignId, tierId }, call)).rejects.toMatchObject({
      key: "not_found",
    });
    expect((await tiers.listLoyaltyTiers({ campaignId }, call)).total).toBe(0n);
  });

  test("change the points of earning rules, and earn points for their events", async () => {
    const rule = (event: string, points: bigint, fields: object = {}) => ({
      event,
      loyalty: { type: "FIXED", points },
      ...fields,
    });
    const club = await program([], {
      rules: [
        rule("viewed", 5n),
        rule("customer.loyalty.tier.upgraded", 7n, { loyaltyTier: { id: "__ANY__" } }),
      ],
    });
    const [viewed] = club.rules;
    const mapping = { type: "MULTIPLY", multiplier: "1.5" };
    const { campaignId, call } = club;
    const { tiers: created } = await tiers.createLoyaltyTiers(
      {
        campaignId,
        tiers: [
          { ...BRONZE, points: { from: 0n, to: 7n } },
          { ...GOLD, points: { from: 8n }, earningRules: { [viewed!.id]: mapping } },
        ],
      },
      call,
    );
    const { customerId, cardId } = await join(club);
    await club.deliver();
    await earn([club.happened(customerId, "viewed")]);
    await club.deliver();
    await earn([club.happened(customerId, "viewed")]);
    await club.deliver();
    await earn([club.happened(customerId, "viewed")]);
    await club.deliver();
    expect((await club.ledger()).map(({ points }) => points)).toEqual([5n, 5n, 7n, 8n]);
    const mapped = (await club.ledger()).find(({ points }) => points === 8n);
    const gold = created[1]!;
    const shown = { id: gold.id, name: "Gold" };
    expect(mapped).toMatchObject({
      card_id: cardId,
      details: { loyalty_tier: shown, holder_loyalty_tier: shown },
    });
    const listed = await tiers.listTierEarningRules({ campaignId, tierId: gold.id }, call);
    expect(listed.data.find(({ id }) => id === viewed!.id)).toMatchObject({
      loyalty: { points: 8n },
    });
    await expect(
      tiers.deleteLoyaltyTier({ campaignId, tierId: created[0]!.id }, call),
    ).resolves.toBeDefined();
    expect(await club.violations()).toEqual([]);
  });

  test("change the prices of rewards", async () => {
    const club = await program([]);
    const { campaignId, call, projectId } = club;
    const material = await rewards.createReward(
      { type: "MATERIAL", parameters: { product: { id: "prod_1" } } },
      call,
    );
    const coin = await rewards.createReward(
      { type: "COIN", parameters: { coin: { exchangeRatio: "1", pointsRatio: 5n } } },
      call,
    );
    const assign = (rewardId: string, loyaltyPrice?: object) =>
      rewards.createRewardAssignment(
        {
          rewardId,
          campaign: campaignId,
          ...(loyaltyPrice && { parameters: { loyalty: loyaltyPrice } }),
        },
        call,
      );
    const [priced, paid] = [await assign(material.id, { points: 25n }), await assign(coin.id)];
    const half = { type: "MULTIPLY", multiplier: "0.5" };
    await expect(
      tiers.createLoyaltyTiers(
        {
          campaignId,
          tiers: [{ ...BRONZE, rewards: { [paid.id]: { type: "CUSTOM", points: 1n } } }],
        },
        call,
      ),
    ).rejects.toMatchObject({ key: "invalid_payload" });
    const { tiers: created } = await tiers.createLoyaltyTiers(
      {
        campaignId,
        tiers: [
          { ...BRONZE, rewards: { [priced.id]: half, [paid.id]: half } },
          { ...GOLD, rewards: { [priced.id]: { type: "NOT_AVAILABLE" } } },
        ],
      },
      call,
    );
    const { cardId } = await join(club);
    await club.deliver();
    const load = async (rewardId: string) => {
      const card = { cardId, initialPoints: 0n, campaignId, rewardId };
      const { results } = await cards.loadCards(
        { queries: [{ projectId, now: timestampFromMs(NOON), cards: [card] }] },
        call,
      );
      return results[0]!.cards[0]!;
    };
    expect((await load(material.id)).assignment?.parameters?.loyalty?.points).toBe(13n);
    expect((await load(coin.id)).reward?.parameters?.coin?.pointsRatio).toBe(3n);
    const { data } = await tiers.listTierRewards({ campaignId, tierId: created[0]!.id }, call);
    expect(data.map(({ assignment }) => assignment?.parameters?.loyalty?.points)).toEqual([
      undefined,
      13n,
    ]);
    const listOf = async (affordableOnly: boolean) => {
      const voucher = voucherOf(cardId, campaignId);
      const listed = await rewards.listMemberRewards(
        { memberId: cardId, voucher, affordableOnly },
        call,
      );
      return listed.data.map(({ reward }) => reward?.type);
    };
    expect(await listOf(false)).toEqual(["COIN", "MATERIAL"]);
    expect(await listOf(true)).toEqual([]);
    await club.move(cardId, 12n);
    expect(await listOf(true)).toEqual(["COIN"]);
    await expect(
      rewards.createLoyaltyRewards({ campaignId, rewards: [{ reward: coin.id }] }, call),
    ).rejects.toMatchObject({ key: "duplicate_found" });
    await club.move(cardId, 600n);
    expect((await load(material.id)).assignment).toBeUndefined();
    const gold = await tiers.listTierRewards({ campaignId, tierId: created[1]!.id }, call);
    expect(gold.data.map(({ reward }) => reward?.type)).toEqual(["COIN"]);
  });

  test("exclude rewards before a list of rewards is divided into pages", async () => {
    const club = await program([]);
    const { campaignId, call } = club;
    const assigned: { readonly id: string }[] = [];
    for (const points of [10n, 20n, 30n, 40n, 50n]) {
      const product = { id: `prod_${points}` };
      const reward = await rewards.createReward(
        { type: "MATERIAL", parameters: { product } },
        call,
      );
      const parameters = { loyalty: { points } };
      const request = { rewardId: reward.id, campaign: campaignId, parameters };
      assigned.push(await rewards.createRewardAssignment(request, call));
    }
    const [, , , forty, fifty] = assigned;
    const hidden = { type: "NOT_AVAILABLE" };
    const { tiers: created } = await tiers.createLoyaltyTiers(
      {
        campaignId,
        tiers: [{ ...BRONZE, rewards: { [forty!.id]: hidden, [fifty!.id]: hidden } }],
      },
      call,
    );
    const { cardId } = await join(club);
    await club.deliver();
    await club.move(cardId, 20n);
    const figures = ({ data, total }: Awaited<ReturnType<typeof rewards.listMemberRewards>>) => [
      total,
      ...data.map(({ assignment }) => assignment?.parameters?.loyalty?.points),
    ];
    const page = { limit: 2n };
    const member = { ...page, memberId: cardId, voucher: voucherOf(cardId, campaignId) };
    const tier = { ...page, campaignId, tierId: created[0]!.id };
    expect(figures(await rewards.listMemberRewards(member, call))).toEqual([3n, 30n, 20n]);
    expect(figures(await rewards.listMemberRewards({ ...member, page: 2n }, call))).toEqual([
      3n,
      10n,
    ]);
    const affordable = { ...member, affordableOnly: true };
    expect(figures(await rewards.listMemberRewards(affordable, call))).toEqual([2n, 20n, 10n]);
    const { data, total } = await tiers.listTierRewards(tier, call);
    expect([Number(total), data.length]).toEqual([3, 2]);
    expect((await tiers.listTierRewards({ ...tier, page: 2n }, call)).data).toHaveLength(1);
  });

  test("are applied to members when the program asks to recalculate them", async () => {
    const club = await program([SILVER], {
      policy: { expiration_date: { type: "CUSTOM", extend: "P1M" } },
    });
    const { cardId } = await join(club);
    await club.move(cardId, 100n);
    const tiersExpiration = { expiration_date: { type: "CUSTOM", extend: "P2M" } };
    await storeProgram(db, { projectId: club.projectId, id: club.campaignId, tiersExpiration });
    const changed = newEvent(
      LoyaltyTiersChangedSchema,
      { projectId: club.projectId, topic: POINTS_TOPIC },
      { projectId: club.projectId, campaignId: club.campaignId, recalculate: true },
    );
    await consume([changed, changed], deliveryFrom(POINTS_TOPIC));
    await club.deliver();
    expect(club.changes).toEqual([
      "2026-03-01 joined Silver 2026-04-01",
      "2026-03-01 expiration.changed Silver 2026-05-01",
    ]);
    expect(await club.tierOf(cardId)).toMatchObject({
      expiration: { expirationDate: "2026-05-01" },
    });
  });

  test("must not overlap, and refer to rules and assignments of their program", async () => {
    const club = await program([SILVER]);
    const { campaignId, call } = club;
    const create = (tier: object) =>
      tiers.createLoyaltyTiers({ campaignId, tiers: [{ ...GOLD, ...tier }] }, call);
    const custom = { type: "CUSTOM", points: 1n };
    await expect(create({ points: { from: 400n } })).rejects.toMatchObject({
      key: "invalid_payload",
    });
    await expect(create({ points: { from: 600n, to: 500n } })).rejects.toMatchObject({
      key: "invalid_payload",
    });
    await expect(create({ earningRules: { ern_none: custom } })).rejects.toMatchObject({
      key: "not_found",
    });
    await expect(create({ rewards: { rewa_none: custom } })).rejects.toMatchObject({
      key: "not_found",
    });
    const results = await Promise.allSettled([create({}), create({}), create({})]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

test("rules about the tier of a customer see those of all cards, before the event", async () => {
  const club = await program([BRONZE, SILVER]);
  const silver = club.created[1]!;
  const { projectId, campaignId, call } = club;
  await earningRules.createEarningRules(
    {
      campaignId,
      rules: [
        {
          event: "visited",
          loyalty: { type: "FIXED", points: 100n },
          validationRuleId: "val_silver",
          validationRule: {
            rules: { "1": { name: "customer.loyalty.tier", conditions: { $is: [silver.id] } } },
            changed_at: "2026-03-01T00:00:00Z",
          },
        },
        { event: "visited", loyalty: { type: "FIXED", points: 150n } },
      ],
    },
    call,
  );
  const { customerId } = await join(club);
  const visit = async () => {
    await earn([club.happened(customerId, "visited")]);
    await club.deliver();
  };
  const resolved = async () => {
    const query = { projectId, customer: { id: customerId }, withSegments: true };
    const { results } = await customers.resolveCustomers({ queries: [query] }, call);
    return results[0]?.loyaltyTierIds;
  };
  await visit();
  expect((await club.ledger()).map(({ points }) => points)).toEqual([150n]);
  expect(await resolved()).toEqual([silver.id]);
  await visit();
  expect((await club.ledger()).map(({ points }) => points)).toEqual([100n, 150n, 150n]);
  const unknown = { projectId, customer: { sourceId: "unknown" }, withSegments: true };
  const { results } = await customers.resolveCustomers({ queries: [unknown] }, call);
  expect(results[0]?.loyaltyTierIds).toEqual([]);
});
