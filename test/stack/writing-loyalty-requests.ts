import { type Api, type Json, newCode } from "./api.ts";
import { type Card, createLoyaltyProgram } from "./loyalty-program.ts";
import { waitFor } from "./retry.ts";
import { ok } from "./rule-builders.ts";

export type LoyaltyFixtures = Awaited<ReturnType<typeof createLoyaltyFixtures>>;

/** A program with an earning rule whose points are pending, a card with three entries of them, and another card. */
export async function createLoyaltyFixtures(api: Api, management: Api, projectId: string) {
  const schemas = `/management/v1/projects/${projectId}/custom-event-schemas`;
  const { id: schemaId } = await ok(management.post(schemas, { name: "visited" }));
  const { campaignId, rewardId, createCard } = await createLoyaltyProgram(api);
  const [card, source, payer] = [await createCard(), await createCard(), await createCard()];
  const coin = { type: "COIN", parameters: { coin: { exchange_ratio: 1 } } };
  const { id: spareRewardId } = await ok(api.post("/v1/rewards", coin));
  const redemptionId = await redeemMug(api, { campaignId, card: await createCard() });
  const rules = `/v1/loyalties/${campaignId}/earning-rules`;
  const create = () =>
    api.post(rules, [
      {
        event: "order.paid",
        loyalty: { type: "FIXED", points: 5 },
        pending_points: { period_type: "DAY", period_value: 30 },
        source: { banner: "pending" },
      },
    ]);
  // After a crash, the program may take some seconds to arrive.
  const created = await waitFor(
    async () => {
      const response = await create();
      if (response.status !== 200) throw new Error(response.text);
      return response;
    },
    { timeout: 40_000, interval: 500 },
  );
  const [{ id: ruleId }] = created.body as unknown as readonly [Json];
  const order = (): Promise<Json> =>
    ok(api.post("/v1/orders", { amount: 100, status: "PAID", customer: card.customer }));
  await Promise.all([order(), order(), order()]);
  const pending = await waitFor(
    async () => {
      const { data } = await ok(api.get(`/v1/loyalties/members/${card.code}/pending-points`));
      if (data.length < 3) throw new Error("points are not pending yet");
      return (data as readonly Json[]).map(({ id }) => String(id));
    },
    { timeout: 40_000, interval: 200 },
  );
  const tiers = await ok(
    api.post(`/v1/loyalties/${campaignId}/tiers`, [
      { name: "Top", points: { from: 1_000_000, to: 1_999_999 } },
    ]),
  );
  const [{ id: tierId }] = tiers as unknown as readonly [Json];
  return {
    schemas,
    schemaId,
    campaignId,
    rewardId,
    spareRewardId: String(spareRewardId),
    redemptionId,
    card,
    source,
    payer,
    rules,
    ruleId,
    tierId,
    pending,
  };
}

/** The redemption of a MATERIAL reward that is not handed out yet. */
async function redeemMug(
  api: Api,
  { campaignId, card }: { readonly campaignId: string; readonly card: Card },
): Promise<string> {
  const product = await ok(api.post("/v1/products", { name: "Mug" }));
  const parameters = { product: { id: product["id"] } };
  const { id } = await ok(api.post("/v1/rewards", { type: "MATERIAL", parameters }));
  const assignment = { reward: id, parameters: { loyalty: { points: 1 } } };
  await ok(api.post(`/v1/loyalties/${campaignId}/rewards`, [assignment]));
  const redeem = { reward: { id } };
  const redemption = await ok(api.post(`/v1/loyalties/members/${card.code}/redemption`, redeem));
  return redemption["id"];
}

type Tools<Row, Effect> = {
  readonly post: (path: string, body?: Json | readonly Json[]) => Row;
  readonly put: (path: string, body?: Json) => Row;
  readonly rows: (
    table: string,
    condition?: string,
    count?: number,
    values?: readonly string[],
  ) => Effect;
};

/** Rows of events, earning rules and points. */
export function earningRows<Row extends object, Effect extends object>(
  {
    schemas,
    schemaId,
    rewardId,
    spareRewardId,
    redemptionId,
    card,
    source,
    payer,
    rules,
    ruleId,
    tierId,
    pending,
    campaignId,
  }: LoyaltyFixtures,
  { post, put, rows }: Tools<Row, Effect>,
): Record<string, Row & Partial<Effect> & { readonly by?: "management" }> {
  const tag = newCode("points");
  const by = { by: "management" as const };
  const member = `/v1/loyalties/members/${card.code}`;
  const entry = (sourceId: string): Effect =>
    rows("loyalty.ledger_entry", "source_id = $2", 1, [sourceId]);
  const [adjusted, activated, canceled] = pending;
  return {
    "MemberService.AdjustMemberBalance": {
      ...post(`${member}/balance`, { points: 7, source_id: `${tag} balance` }),
      ...entry(`${tag} balance`),
    },
    "RewardService.CreateLoyaltyRewards": {
      ...post(`/v1/loyalties/${campaignId}/rewards`, [{ reward: spareRewardId }]),
      ...rows("loyalty.reward_assignment", "reward_id = $2", 1, [spareRewardId]),
    },
    "ValidationService.RedeemMemberReward": {
      ...post(`/v1/loyalties/members/${payer.code}/redemption`, {
        order: { amount: 2_000 },
        reward: { id: rewardId },
      }),
      ...rows("voucher.redemption", "voucher_id = $2", 1, [payer.id]),
    },
    "RedemptionService.CompleteReward": {
      ...post(`/v1/redemptions/${redemptionId}/reward/complete`),
      ...rows("voucher.reward_redemption", "redemption_id = $2 and status = 'COMPLETED'", 1, [
        redemptionId,
      ]),
    },
    "MemberService.TransferMemberPoints": {
      ...post(`/v1/loyalties/${campaignId}/members/${card.code}/transfers`, [
        { code: source.code, points: 3, source_id: `${tag} transfer` },
      ]),
      ...rows("loyalty.ledger_entry", "source_id = $2", 2, [`${tag} transfer`]),
    },
    "CustomEventService.CreateCustomEvent": {
      ...post("/v1/events", { event: "visited", customer: card.customer, metadata: { tag } }),
      ...rows("loyalty.custom_event", "metadata ->> 'tag' = $2", 1, [tag]),
    },
    "CustomEventService.CreateCustomEventSchema": {
      ...by,
      ...post(schemas, { name: tag }),
      ...rows("loyalty.custom_event_schema", "name = $2", 1, [tag]),
    },
    "CustomEventService.UpdateCustomEventSchema": {
      ...by,
      ...put(`${schemas}/${schemaId}`, {
        schema: { properties: { tag: { type: "string", optional: true } } },
      }),
    },
    "EarningRuleService.CreateEarningRules": {
      ...post(rules, [
        { event: "visited", loyalty: { type: "FIXED", points: 1 }, metadata: { tag } },
      ]),
      ...rows("loyalty.earning_rule", "metadata ->> 'tag' = $2", 1, [tag]),
    },
    "EarningRuleService.UpdateEarningRule": put(`${rules}/${ruleId}`, {
      source: { banner: "changed" },
    }),
    "EarningRuleService.DisableEarningRule": post(`${rules}/${ruleId}/disable`),
    "EarningRuleService.EnableEarningRule": post(`${rules}/${ruleId}/enable`),
    "LoyaltyTierService.CreateLoyaltyTiers": {
      ...post(`/v1/loyalties/${campaignId}/tiers`, [
        { name: tag, points: { from: 2_000_000, to: 2_999_999 } },
      ]),
      ...rows("loyalty.loyalty_tier", "name = $2", 1, [tag]),
    },
    "LoyaltyTierService.UpdateLoyaltyTier": put(`/v1/loyalties/${campaignId}/tiers/${tierId}`, {
      name: "changed",
    }),
    "PendingPointsService.AdjustPendingPoints": {
      ...post(`${member}/pending-points/${adjusted}/balance`, { points: 2 }),
      ...rows("loyalty.pending_points", "id = $2 and points = 7", 1, [String(adjusted)]),
    },
    "PendingPointsService.ActivatePendingPoints": {
      ...post(`${member}/pending-points/${activated}/activate`),
      ...rows("loyalty.ledger_entry", "type = 'PENDING_POINTS_ACTIVATION'"),
    },
    "PendingPointsService.CancelPendingPoints": post(`${member}/pending-points/${canceled}/cancel`),
  };
}
