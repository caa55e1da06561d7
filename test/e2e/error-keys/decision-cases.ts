import { type Json, newCode } from "../../stack/api.ts";
import { createLoyaltyProgram } from "../../stack/loyalty-program.ts";
import type { CaseRequest, ErrorCase } from "./error-case.ts";
import { referralCode } from "./fixtures.ts";
import { AMOUNT_OFF, FUTURE, PAST, type Shop } from "./shop.ts";

/** A redeemable, and the rest of the request. */
type Decision = {
  readonly id: string;
  readonly gift?: Json;
  readonly reward?: Json;
  readonly request?: Json;
};

type Scenario = {
  readonly key: string;
  readonly redeemable: "voucher" | "promotion_tier";
  /** Whether it makes the request invalid, or only rejects the redeemable. */
  readonly rejects: "request" | "redeemable";
  readonly prepare: (shop: Shop) => Promise<Decision>;
};

type DecisionRpc = {
  readonly redeemable: "voucher" | "promotion_tier" | "any";
  readonly toRequest: (object: string, decision: Decision) => CaseRequest;
};

const inPath =
  (name: string) =>
  (_: string, decision: Decision): CaseRequest => {
    const { id, gift, reward, request } = decision;
    return { params: { [name]: id }, body: { ...ORDER, gift, reward, ...request } };
  };

const inList = (object: string, { id, gift, reward, request }: Decision): CaseRequest => ({
  body: { ...ORDER, redeemables: [{ object, id, gift, reward }], ...request },
});

const ORDER = { order: { amount: 1000 } };

const RPCS: Readonly<Record<string, DecisionRpc>> = {
  "ValidationService.ValidateVoucher": { redeemable: "voucher", toRequest: inPath("code") },
  "ValidationService.RedeemVoucher": { redeemable: "voucher", toRequest: inPath("code") },
  "ValidationService.RedeemMemberReward": {
    redeemable: "voucher",
    toRequest: inPath("member_id"),
  },
  "ValidationService.ValidateCode": {
    redeemable: "voucher",
    toRequest: (_, { id, gift, reward, request }) => ({
      query: { code: id, ...ORDER, gift, reward, ...request },
    }),
  },
  "ValidationService.RedeemCode": {
    redeemable: "voucher",
    toRequest: (_, { id, gift, reward, request }) => ({
      query: { code: id },
      body: { ...ORDER, gift, reward, ...request },
    }),
  },
  "ValidationService.Validate": { redeemable: "any", toRequest: inList },
  "ValidationService.Redeem": { redeemable: "any", toRequest: inList },
  "ValidationService.ValidatePromotionTier": {
    redeemable: "promotion_tier",
    toRequest: inPath("tier_id"),
  },
  "ValidationService.RedeemPromotionTier": {
    redeemable: "promotion_tier",
    toRequest: inPath("tier_id"),
  },
};

const NO_ORDER = { order: undefined };
const atMost = (limit: number): Json => ({ $less_than_or_equal: [limit] });

/** Scenarios that a voucher and a promotion tier have in common. */
const RULE_SCENARIOS: readonly {
  readonly key: string;
  readonly rule: Parameters<Shop["rule"]>;
  readonly request?: Json;
}[] = [
  { key: "missing_customer", rule: ["customer.metadata", { $is: [true] }, "vip"] },
  { key: "missing_amount", rule: ["order.amount", atMost(1)], request: NO_ORDER },
  {
    key: "customer_rules_violated",
    rule: ["customer.metadata", { $is: [true] }, "vip"],
    request: { customer: { source_id: "somebody" } },
  },
  { key: "order_rules_violated", rule: ["order.amount", atMost(1)] },
  { key: "redemption_rules_violated", rule: ["redemption.count.daily", atMost(0)] },
];

const ruleScenarios = RULE_SCENARIOS.flatMap(({ key, rule, request = {} }): Scenario[] => [
  {
    key,
    redeemable: "voucher",
    rejects: "redeemable",
    prepare: async (shop) => ({
      id: await shop.voucher({ validation_rules: [await shop.rule(...rule)] }),
      request,
    }),
  },
  {
    key,
    redeemable: "promotion_tier",
    rejects: "redeemable",
    prepare: async (shop) => ({
      id: (await shop.tier({ validation_rules: [await shop.rule(...rule)] }))["id"],
      request,
    }),
  },
]);

const rejectedVoucher = (key: string, fields: Json, rest: Omit<Decision, "id"> = {}): Scenario => ({
  key,
  redeemable: "voucher",
  rejects: "redeemable",
  prepare: async (shop) => ({ id: await shop.voucher(fields), ...rest }),
});

const GIFT = { type: "GIFT_VOUCHER", discount: undefined, gift: { amount: 500 } };

/** A discount whose added units raise the order above the largest amount. */
const tooManyUnits = async (shop: Shop): Promise<Json> => {
  const { id } = await shop.product({ price: 10_000_000_000_000 });
  return { type: "UNIT", unit_off: 1_000_000, unit_type: id, effect: "ADD_NEW_ITEMS" };
};

const VOUCHER_SCENARIOS: readonly Scenario[] = [
  rejectedVoucher("voucher_disabled", { active: false }),
  rejectedVoucher("voucher_not_active", { start_date: FUTURE }),
  rejectedVoucher("voucher_expired", { expiration_date: PAST }),
  rejectedVoucher("voucher_not_active_now", {
    start_date: PAST,
    validity_timeframe: { interval: "P900Y", duration: "PT1H" },
  }),
  rejectedVoucher("quantity_exceeded", { redemption: { quantity: 0 } }),
  rejectedVoucher("gift_amount_exceeded", GIFT, { gift: { credits: 501 } }),
  rejectedVoucher("missing_order_items_amount", {
    ...GIFT,
    gift: { amount: 500, effect: "APPLY_TO_ITEMS" },
  }),
  rejectedVoucher("missing_reward", {
    type: "LOYALTY_CARD",
    discount: undefined,
    loyalty_card: { points: 10 },
  }),
  {
    key: "invalid_order",
    redeemable: "voucher",
    rejects: "redeemable",
    prepare: async (shop) => ({ id: await shop.voucher({ discount: await tooManyUnits(shop) }) }),
  },
];

const NOT_A_CODE: Scenario = {
  key: "not_found",
  redeemable: "voucher",
  rejects: "redeemable",
  prepare: async () => ({ id: "none" }),
};

const REFERRAL_SCENARIOS: readonly Scenario[] = [
  {
    key: "not_published",
    redeemable: "voucher",
    rejects: "redeemable",
    prepare: async (shop) => ({ id: await referralCode(shop, undefined) }),
  },
  {
    key: "invalid_customer",
    redeemable: "voucher",
    rejects: "redeemable",
    prepare: async (shop) => ({ id: await referralCode(shop, { source_id: newCode("referrer") }) }),
  },
  {
    key: "referrer_not_permitted_to_redeem",
    redeemable: "voucher",
    rejects: "redeemable",
    prepare: async (shop) => {
      const customer = { source_id: newCode("referrer") };
      return { id: await referralCode(shop, customer), request: { customer } };
    },
  },
];

type Program = Awaited<ReturnType<typeof createLoyaltyProgram>>;

/** A card of a loyalty program, redeemed by its holder for a reward. */
const cardScenario = (
  key: string,
  rewardOf: (shop: Shop, program: Program) => Promise<Json>,
  request: Json = {},
): Scenario => ({
  key,
  redeemable: "voucher",
  rejects: "redeemable",
  prepare: async (shop) => {
    const program = await createLoyaltyProgram(shop.api);
    const { code, customer } = await program.createCard();
    const reward = await rewardOf(shop, program);
    return { id: code, reward, request: { customer, ...request } };
  },
});

/** The id of a reward that costs ten points. */
async function assignReward(shop: Shop, program: Program, fields: Json): Promise<Json> {
  const { id } = await shop.create("/v1/rewards", fields);
  const price = { loyalty: { points: 10 } };
  const assignment = { campaign: program.campaignId, parameters: price };
  await shop.create(`/v1/rewards/${id}/assignments`, assignment);
  return { id };
}

const CARD_SCENARIOS: readonly Scenario[] = [
  cardScenario("not_found", async () => ({ id: "rew_none" })),
  cardScenario("reward_out_of_stock", async (shop, program) => {
    const { id } = await shop.product();
    const parameters = { product: { id } };
    return assignReward(shop, program, { type: "MATERIAL", parameters, stock: 0 });
  }),
  cardScenario("no_voucher_suitable_for_publication", async (shop, program) => {
    const { id } = await shop.campaign({ type: "STATIC", vouchers_count: 0 });
    return assignReward(shop, program, { type: "CAMPAIGN", parameters: { campaign: { id } } });
  }),
  cardScenario("loyalty_card_points_exceeded", async (_, { rewardId }) => ({
    id: rewardId,
    points: 1_001,
  })),
  cardScenario("missing_order", async (_, { rewardId }) => ({ id: rewardId }), NO_ORDER),
  cardScenario("invalid_amount", async (_, { rewardId }) => ({ id: rewardId }), {
    order: { amount: 0 },
  }),
];

const TIER_SCENARIOS: readonly Scenario[] = [
  {
    key: "promotion_inactive",
    redeemable: "promotion_tier",
    rejects: "redeemable",
    prepare: async (shop) => ({ id: (await shop.tier({ active: false }))["id"] }),
  },
  {
    key: "promotion_not_active_now",
    redeemable: "promotion_tier",
    rejects: "redeemable",
    prepare: async (shop) => ({ id: (await shop.tier({ start_date: FUTURE }))["id"] }),
  },
  {
    key: "invalid_order",
    redeemable: "promotion_tier",
    rejects: "redeemable",
    prepare: async (shop) => ({
      id: (await shop.tier({ action: { discount: await tooManyUnits(shop) } }))["id"],
    }),
  },
];

/** What is wrong with the request and not with its redeemable. */
const REQUEST_SCENARIOS = (["voucher", "promotion_tier"] as const).flatMap(
  (redeemable): Scenario[] => {
    const create = async (shop: Shop): Promise<string> =>
      redeemable === "voucher" ? shop.voucher() : (await shop.tier())["id"];
    const invalid = (key: string, request: Json): Scenario => ({
      key,
      redeemable,
      rejects: "request",
      prepare: async (shop) => ({ id: await create(shop), request }),
    });
    return [
      invalid("invalid_order", { order: { amount: -1 } }),
      invalid("ambiguous_tracking_id", { customer: { source_id: "ann" }, tracking_id: "bob" }),
      {
        key: "multiple_requests",
        redeemable,
        rejects: "request",
        prepare: async (shop) => ({ id: await create(shop), request: await claimedOrder(shop) }),
      },
    ];
  },
);

/** An order that another request is redeeming for. */
export async function claimedOrder(shop: Shop): Promise<Json> {
  const order = { source_id: newCode("order"), amount: 1000 };
  await shop.create("/v1/orders", order);
  await shop.sql(
    `update validation.shop_order
        set claimed_by = 'another request', claimed_until = now() + interval '10 minutes'
      where project_id = $1 and source_id = $2`,
    [shop.projectId, order.source_id],
  );
  return { order };
}

/** A validation claims no order, but gives way to a redemption of its session. */
const CLAIMED_SESSION: Scenario = {
  key: "multiple_requests",
  redeemable: "voucher",
  rejects: "request",
  prepare: async (shop) => {
    const code = await shop.voucher();
    const { id } = (await shop.api.get(`/v1/vouchers/${code}`)).body;
    const session = { type: "LOCK", key: newCode("session") };
    await shop.sql(
      `insert into validation.session_claim
         (project_id, session_key, voucher_id, claimed_by, claimed_until)
       values ($1, $2, $3, 'another request', now() + interval '10 minutes')`,
      [shop.projectId, session.key, id],
    );
    return { id: code, request: { session } };
  },
};

const SCENARIOS: readonly Scenario[] = [
  CLAIMED_SESSION,
  ...REQUEST_SCENARIOS,
  ...VOUCHER_SCENARIOS,
  ...REFERRAL_SCENARIOS,
  ...CARD_SCENARIOS,
  ...ruleScenarios,
  ...TIER_SCENARIOS,
  NOT_A_CODE,
];

/** The keys that an RPC of validation or redemption declares. */
export type DeclaredKeys = {
  readonly errors: readonly string[];
  readonly rejections: readonly string[];
};

/**
 * Every scenario for every RPC that declares its key. A redeemable is rejected inside the response
 * where the contract says so, and otherwise with an error.
 */
export function decisionCases(rpc: string, declared: DeclaredKeys): readonly ErrorCase[] {
  const target = RPCS[rpc];
  if (target === undefined) return [];
  const { redeemable, toRequest } = target;
  return SCENARIOS.filter((each) => redeemable === "any" || redeemable === each.redeemable).flatMap(
    (scenario): ErrorCase[] => {
      const { key, rejects } = scenario;
      const toCase = (shop: Shop): Promise<CaseRequest> =>
        scenario.prepare(shop).then((decision) => toRequest(scenario.redeemable, decision));
      const isRejection = rejects === "redeemable" && declared.rejections.includes(key);
      const isError =
        declared.errors.includes(key) && (!isRejection || rpc === "ValidationService.Redeem");
      return [
        ...(isError ? [{ rpc, key, request: toCase }] : []),
        ...(isRejection ? [rejectionCase(rpc, key, toCase)] : []),
      ];
    },
  );
}

/** In mode PARTIAL, a redemption succeeds although one of its redeemables is rejected. */
const rejectionCase = (
  rpc: string,
  key: string,
  toCase: (shop: Shop) => Promise<CaseRequest>,
): ErrorCase =>
  rpc === "ValidationService.Redeem"
    ? {
        rpc,
        key,
        place: "rejection",
        project: "partial",
        request: async (shop) => {
          const { body } = await toCase(shop);
          const good = await shop.voucher({ discount: AMOUNT_OFF });
          const redeemables = [{ object: "voucher", id: good }, ...(body?.["redeemables"] ?? [])];
          return { body: { ...body, redeemables } };
        },
      }
    : { rpc, key, place: "rejection", request: toCase };
