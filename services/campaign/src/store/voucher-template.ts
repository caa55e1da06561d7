import type { JsonValue } from "@bufbuild/protobuf";
import { discountFromJson, discountToJson } from "@scrip/mapping";

import type { CodeSettings, GiftEffect, Json, VoucherTemplate } from "../domain/campaign.ts";

/** The JSON column `voucher`. Amounts are strings, because JSON numbers cannot hold all of them. */
export type VoucherTemplateRow = {
  discount?: JsonValue;
  gift?: { amount: string; effect: GiftEffect };
  loyalty_card?: { points: string; expiration_rules?: Json };
  quantity?: string;
  code_config: CodeSettings;
  code?: string;
};

export function voucherTemplateToRow(template: VoucherTemplate): VoucherTemplateRow {
  const { discount, gift, loyaltyCard, quantity, codeConfig, code } = template;
  return {
    ...(discount !== null && { discount: discountToJson(discount) }),
    ...(gift !== null && { gift: { amount: `${gift.amount}`, effect: gift.effect } }),
    ...(loyaltyCard !== null && {
      loyalty_card: {
        points: `${loyaltyCard.points}`,
        ...(loyaltyCard.expirationRules !== null && {
          expiration_rules: loyaltyCard.expirationRules,
        }),
      },
    }),
    ...(quantity !== null && { quantity: `${quantity}` }),
    code_config: codeConfig,
    ...(code !== null && { code }),
  };
}

export function voucherTemplateFromRow(json: VoucherTemplateRow): VoucherTemplate {
  const { discount, gift, loyalty_card: card, quantity } = json;
  return {
    discount: discount === undefined ? null : discountFromJson(discount),
    gift: gift === undefined ? null : { amount: BigInt(gift.amount), effect: gift.effect },
    loyaltyCard:
      card === undefined
        ? null
        : { points: BigInt(card.points), expirationRules: card.expiration_rules ?? null },
    quantity: quantity === undefined ? null : BigInt(quantity),
    codeConfig: json.code_config,
    code: json.code ?? null,
  };
}
