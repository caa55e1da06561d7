import { type Api, type Json, newCode } from "./api.ts";
import { ok } from "./rule-builders.ts";

/** A loyalty program with a pay-with-points reward; creates cards for customers. */
export type LoyaltyProgram = {
  readonly campaignId: string;
  readonly rewardId: string;
  readonly assignmentId: string;
  /** Adds a customer to the program, and returns their card with its initial points. */
  readonly createCard: (customer?: Json) => Promise<Card>;
};

export type Card = { readonly code: string; readonly id: string; readonly customer: Json };

/** By default 100 points are worth 20.00. */
export async function createLoyaltyProgram(
  api: Api,
  {
    points = 1_000,
    coin = { exchange_ratio: 20, points_ratio: 100 },
    quantity,
    rules = [],
    autoJoin = false,
  }: {
    readonly points?: number;
    readonly coin?: Json;
    readonly quantity?: number;
    readonly rules?: readonly string[];
    readonly autoJoin?: boolean;
  } = {},
): Promise<LoyaltyProgram> {
  const campaign = await ok(
    api.post("/v1/campaigns", {
      name: newCode("program"),
      campaign_type: "LOYALTY_PROGRAM",
      type: "AUTO_UPDATE",
      auto_join: autoJoin,
      voucher: {
        type: "LOYALTY_CARD",
        loyalty_card: { points },
        ...(quantity !== undefined && { redemption: { quantity } }),
        code_config: { length: 10 },
      },
    }),
  );
  const campaignId = campaign["id"];
  const reward = await ok(
    api.post("/v1/rewards", { name: "Pay with points", type: "COIN", parameters: { coin } }),
  );
  const rewardId = reward["id"];
  const assignment = await ok(
    api.post(`/v1/rewards/${rewardId}/assignments`, {
      campaign: campaignId,
      ...(rules.length > 0 && { validation_rules: rules }),
    }),
  );
  return {
    campaignId,
    rewardId,
    assignmentId: assignment["id"],
    async createCard(customer = { source_id: newCode("member") }) {
      const created = await ok(api.post(`/v1/loyalties/${campaignId}/members`, { customer }));
      return { code: created["code"], id: created["id"], customer };
    },
  };
}

export const balanceOf = async (api: Api, { code }: Card): Promise<number> =>
  (await ok(api.get(`/v1/vouchers/${code}`)))["loyalty_card"].balance;
