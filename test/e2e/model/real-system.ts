import { type ApiResponse, type Api, type Json, newCode } from "../../stack/api.ts";
import { ok } from "../../stack/rule-builders.ts";
import type { Request, Voucher } from "./reference.ts";

/** The running system with the resources that a run of commands created, in the model's order. */
export type RealSystem = {
  readonly api: Api;
  readonly crash: () => Promise<void>;
  readonly codes: string[];
  readonly campaigns: { readonly id: string; readonly rule: string }[];
  readonly redemptions: string[];
  /** Session keys that no other run uses. */
  readonly keyOf: (key: string) => string;
};

export function createRealSystem(api: Api, crash: () => Promise<void>): RealSystem {
  const run = newCode("run");
  const keyOf = (key: string): string => `${run}-${key}`;
  return { api, crash, codes: [], campaigns: [], redemptions: [], keyOf };
}

const atMost = (limit: number): Json => ({
  "1": { name: "campaign.redemptions.count", conditions: { $less_than_or_equal: [limit] } },
  logic: "1",
});
const atLeast = (amount: number): Json => ({
  "1": { name: "order.amount", conditions: { $more_than_or_equal: [amount] } },
  logic: "1",
});
const discountOf = (off: number): Json => ({ type: "AMOUNT", amount_off: off });

export async function createCampaign(
  { api, campaigns }: RealSystem,
  { limit, off }: { readonly limit: number; readonly off: number },
): Promise<void> {
  const name = newCode("campaign");
  const rule = await ok(api.post("/v1/validation-rules", { name, rules: atMost(limit) }));
  const created = await ok(
    api.post("/v1/campaigns", {
      name,
      campaign_type: "DISCOUNT_COUPONS",
      vouchers_count: 0,
      validation_rules: [rule["id"]],
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: discountOf(off),
        redemption: { quantity: null },
      },
    }),
  );
  campaigns.push({ id: created["id"], rule: rule["id"] });
}

export async function changeLimit(
  product: RealSystem,
  campaign: number,
  limit: number,
): Promise<void> {
  const { rule } = product.campaigns[campaign]!;
  await ok(product.api.put(`/v1/validation-rules/${rule}`, { rules: atMost(limit) }));
}

export async function createVoucher(product: RealSystem, voucher: Voucher): Promise<void> {
  const { api, codes, campaigns } = product;
  const { gives, quantity, campaign, minimum } = voucher;
  const code = newCode("MODEL");
  codes.push(code);
  if (campaign !== null) {
    await ok(api.post(`/v1/campaigns/${campaigns[campaign]!.id}/vouchers/${code}`, {}));
    return;
  }
  const rules =
    minimum === null
      ? []
      : [await ok(api.post("/v1/validation-rules", { name: code, rules: atLeast(minimum) }))];
  await ok(
    api.post("/v1/vouchers", {
      code,
      ...("off" in gives
        ? { type: "DISCOUNT_VOUCHER", discount: discountOf(gives.off) }
        : { type: "GIFT_VOUCHER", gift: { amount: gives.loaded } }),
      redemption: { quantity },
      validation_rules: rules.map(({ id }) => id),
    }),
  );
}

export function validate(product: RealSystem, request: Request): Promise<ApiResponse> {
  return product.api.post("/v1/validations", bodyOf(product, request));
}

/** Redeems through the endpoint for one voucher, or the one for stacks. */
export async function redeem(
  product: RealSystem,
  request: Request,
  { single, idempotencyKey }: { readonly single: boolean; readonly idempotencyKey: string },
): Promise<ApiResponse> {
  const { redeemables, ...rest } = bodyOf(product, request);
  const headers = { "idempotency-key": idempotencyKey };
  if (!single) return product.api.post("/v1/redemptions", { redeemables, ...rest }, headers);
  const [{ id, gift }] = redeemables;
  const body = { ...rest, ...(gift !== undefined && { gift }) };
  return product.api.post(`/v1/vouchers/${id}/redemption`, body, headers);
}

function bodyOf(product: RealSystem, { vouchers, amount, key, credits }: Request): Json {
  return {
    redeemables: vouchers.map((voucher) => ({
      object: "voucher",
      id: product.codes[voucher],
      ...(credits !== null && { gift: { credits } }),
    })),
    order: { amount },
    ...(key !== null && { session: { type: "LOCK", key: product.keyOf(key) } }),
  };
}

/** The redemptions, in the format of the endpoint for stacks. */
export const redemptionsOf = ({ body }: ApiResponse): readonly Json[] =>
  body["redemptions"] ?? [body];

export const orderRedemptionOf = (response: ApiResponse): Json =>
  response.body["parent_redemption"] ?? redemptionsOf(response)[0];
