import { type Api, type Json, newCode } from "./api.ts";
import { ok, ruleBuilders, TEN_PERCENT } from "./rule-builders.ts";

/** Creates referral programs, and codes that their referrers hold. */
export function referralBuilders(api: Api) {
  const { createCampaign } = ruleBuilders(api);
  const program = (body: Json = {}): Promise<Json> =>
    createCampaign({
      campaign_type: "REFERRAL_PROGRAM",
      type: "AUTO_UPDATE",
      vouchers_count: 1,
      voucher: { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT },
      ...body,
    });
  /** A published code of a program, and the path of its holders. */
  const publishedCode = async (of?: Json) => {
    const campaign = of ?? (await program());
    const referrer = newCode("referrer");
    const { voucher, customer_id: referrerId } = await ok(
      api.post("/v1/publications", { campaign: campaign["id"], customer: referrer }),
    );
    const code = voucher.code as string;
    return {
      campaign,
      code,
      voucherId: voucher.id as string,
      referrer,
      referrerId: referrerId as string,
      path: `/v1/referrals/${campaign["id"]}/members/${code}/holders`,
      shortPath: `/v1/referrals/members/${voucher.id}/holders`,
    };
  };
  return { program, publishedCode };
}
