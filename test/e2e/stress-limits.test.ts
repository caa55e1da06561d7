import { describe, expect, test } from "vitest";

import { type ApiResponse, inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const CLIENTS = 64;
/** Discount of each redemption on an order of 10.00. */
const DISCOUNT = 70;

type Limit = {
  readonly name: string;
  readonly limit: number;
  /** Number of redemptions that the limit allows per customer. */
  readonly fits: number;
};

/** Count rules with the number of redemptions that they allow; `contested.test.ts` has more. */
const PERSONAL: readonly Limit[] = [
  { name: "campaign.redemptions.customers_count", limit: 3, fits: 3 },
];

describe.each(COMPOSITIONS)("64 clients against one limit (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test.each(PERSONAL)(
    "redeem exactly as often as $name allows each new customer",
    async ({ name, limit, fits }) => {
      const codes = await createCampaign(name, limit);
      const buyers = times(10).map(() => newCode("buyer"));
      const responses = await inParallel(times(200), CLIENTS, (n) =>
        redeem([codes[n % 8]!], { customer: { source_id: buyers[n % 10] } }),
      );
      expect(errorKeysIn(responses)).toEqual(["redemption_rules_violated"]);
      const perBuyer = buyers.map((buyer) =>
        successesOf(responses).filter(({ body }) => bodyOf(body)["customer"].source_id === buyer),
      );
      expect(perBuyer.map(({ length }) => length)).toEqual(buyers.map(() => fits));
      expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
    },
  );

  test("roll back each redemption once, single or stacked", async () => {
    const codes = await createCampaign("campaign.redemptions.count", 60);
    const sets = times(20).map((n) => (n % 2 === 0 ? [codes[n % 8]!] : codes.slice(n % 4, 5)));
    const redeemed = await inParallel(sets, CLIENTS, (set) => redeem(set));
    expect(successesOf(redeemed)).toHaveLength(20);
    const redeemedCount = sets.flat().length;

    const rollbackIds = redeemed.flatMap(({ body }) =>
      times(8).map(() => bodyOf(body)["id"] as string),
    );
    const responses = await inParallel(rollbackIds, CLIENTS, (id) =>
      api.post(`/v1/redemptions/${id}/rollbacks`),
    );
    expect(successesOf(responses)).toHaveLength(20);
    expect(errorKeysIn(responses)).toEqual(["already_rolled_back"]);
    // The rollbacks release exactly what was counted.
    expect(redeemedCount).toBeLessThanOrEqual(60);
    const again = await inParallel(times(100), CLIENTS, (n) => redeem([codes[n % 8]!]));
    expect(successesOf(again)).toHaveLength(60);
    expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
  });

  /** Creates a campaign with the rule, and eight codes without a quantity. */
  async function createCampaign(name: string, limit: number): Promise<readonly string[]> {
    const rules = { "1": { name, conditions: { $less_than_or_equal: [limit] } }, logic: "1" };
    const rule = await ok(api.post("/v1/validation-rules", { name: newCode("rule"), rules }));
    const campaign = await ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        campaign_type: "DISCOUNT_COUPONS",
        vouchers_count: 0,
        validation_rules: [rule["id"]],
        voucher: {
          type: "DISCOUNT_VOUCHER",
          discount: { type: "AMOUNT", amount_off: DISCOUNT },
          redemption: { quantity: null },
        },
      }),
    );
    return inParallel(times(8), 1, async () => {
      const code = newCode("LIMIT");
      await ok(api.post(`/v1/campaigns/${campaign["id"]}/vouchers/${code}`, {}));
      return code;
    });
  }

  const redeem = (codes: readonly string[], fields: Json = {}): Promise<ApiResponse> =>
    api.post("/v1/redemptions", {
      redeemables: codes.map((id) => ({ object: "voucher", id })),
      order: { amount: 1_000 },
      ...fields,
    });
});

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

const successesOf = (responses: readonly ApiResponse[]): readonly ApiResponse[] =>
  responses.filter(({ status }) => status === 200);

/** The parent redemption of a stack, or the only redemption. */
const bodyOf = (body: Json): Json => body["parent_redemption"] ?? body["redemptions"][0];

const errorKeysIn = (responses: readonly ApiResponse[]): readonly string[] => [
  ...new Set(
    responses.flatMap(({ status, body }) => (status === 200 ? [] : [String(body["key"])])),
  ),
];
