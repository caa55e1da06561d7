import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import { enumName } from "@scrip/mapping";
import type { NewCampaignVoucher } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { GiftEffect as GiftEffects } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { integerOf, parseExpirationRules, parseTierPolicy } from "@scrip/rules";

import type { Json, VoucherTemplate } from "../domain/campaign.ts";
import { campaignCodeConfig } from "./code-config.ts";
import { parseDiscount } from "./discount.ts";

/** Rejects settings of loyalty tiers that make no sense; null without any. */
export function checkedTiersExpiration(settings: JsonObject | undefined): Json | null {
  const parsed = parseTierPolicy(settings ?? null);
  if ("violation" in parsed) throw invalidPayload(parsed.violation);
  return settings === undefined ? null : withNumbers(settings);
}

/** Rejects expiration rules that make no sense; null without any. */
export function checkedExpirationRules(rules: JsonObject | undefined): Json | null {
  if (rules === undefined) return null;
  const parsed = parseExpirationRules(rules);
  if ("violation" in parsed) {
    throw invalidPayload(parsed.violation.replace("Property .", "Property .voucher.loyalty_card."));
  }
  return withNumbers(rules);
}

const INTEGERS = new Set(["period_value", "rounding_value", "fixed_month", "fixed_day", "value"]);

/** Settings whose integers may be sent as strings of digits, as responses show them. */
const withNumbers = (settings: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(settings).map(([key, value]) => {
      if (isObject(value)) return [key, withNumbers(value)];
      return [key, (INTEGERS.has(key) ? integerOf(value) : null) ?? value];
    }),
  );

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The voucher template of a new campaign whose parts have been checked (domain/check-campaign.ts). */
export function parseVoucherTemplate(
  requested: NewCampaignVoucher | undefined,
  call: Call,
): VoucherTemplate {
  const { discount, gift, loyaltyCard, redemption, codeConfig, code } = requested ?? {};
  return {
    discount: discount === undefined ? null : parseDiscount(discount),
    gift:
      gift?.amount === undefined
        ? null
        : { amount: gift.amount, effect: enumName(GiftEffects, gift.effect) ?? "APPLY_TO_ORDER" },
    loyaltyCard:
      loyaltyCard?.points === undefined
        ? null
        : {
            points: loyaltyCard.points,
            expirationRules: checkedExpirationRules(loyaltyCard.expirationRules),
          },
    quantity: redemption?.quantity ?? null,
    codeConfig: campaignCodeConfig(codeConfig, call),
    code: code ?? null,
  };
}
