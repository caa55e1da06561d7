const REWARD_TYPES = ["CAMPAIGN", "MATERIAL", "COIN"] as const;

export type RewardType = (typeof REWARD_TYPES)[number];

/** Exactly the parameter of the reward's type is set. */
export type RewardParameters = {
  readonly campaign?: {
    readonly id: string;
    readonly balance: string | null;
    readonly type: string | null;
  };
  readonly product?: { readonly id: string; readonly sku_id: string | null };
  /** A decimal amount in major units, and a number of points. */
  readonly coin?: { readonly exchange_ratio: string; readonly points_ratio: string };
};

export type RewardViolation =
  | { readonly key: "invalid_payload"; readonly details: string }
  | { readonly key: "invalid_balance"; readonly details: string };

/** Campaign types whose vouchers need a balance in the reward. */
const WITH_BALANCE: ReadonlySet<string> = new Set(["GIFT_VOUCHERS", "LOYALTY_PROGRAM"]);

const FIELDS = { CAMPAIGN: "campaign", MATERIAL: "product", COIN: "coin" } as const;

/** The type that belongs to the parameters; of several, the check names the one that is too many. */
export const rewardTypeOf = (parameters: RewardParameters): RewardType | undefined =>
  REWARD_TYPES.find((type) => parameters[FIELDS[type]] !== undefined);

/** Checks that the parameters match the type (docs/gift-and-points.md#rewards). */
export function checkReward(
  type: RewardType,
  parameters: RewardParameters,
  stock: bigint | null,
): RewardViolation | null {
  const field = FIELDS[type];
  if (parameters[field] === undefined) {
    return invalid(`Property .parameters should have required property '${field}'`);
  }
  const foreign = Object.values(FIELDS).find(
    (other) => other !== field && parameters[other] !== undefined,
  );
  if (foreign !== undefined) {
    return invalid(`Property .parameters.${foreign} does not belong to a ${type} reward`);
  }
  if (type !== "MATERIAL" && stock !== null) {
    return invalid(`Property .stock does not belong to a ${type} reward`);
  }
  const kind = parameters.campaign?.type ?? "";
  if (kind === "PROMOTION") {
    return invalid(
      "Property .parameters.campaign.id cannot be a PROMOTION campaign: it has no vouchers",
    );
  }
  const balance = BigInt(parameters.campaign?.balance ?? "0");
  if (WITH_BALANCE.has(kind) && balance <= 0n) {
    return {
      key: "invalid_balance",
      details: `Property 'parameters.campaign.balance' must be greater than zero for campaign type: ${kind}`,
    };
  }
  return null;
}

const invalid = (details: string): RewardViolation => ({ key: "invalid_payload", details });
