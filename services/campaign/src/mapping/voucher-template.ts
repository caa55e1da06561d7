import { type CodeConfig, mergeCodeConfig, normalize, parseCodeConfig } from "@scrip/codes";
import { ApiError } from "@scrip/errors";
import { enumName } from "@scrip/mapping";
import type { NewCampaignVoucher } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  type CodeConfig as CodeConfigMessage,
  GiftEffect as GiftEffects,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Campaign, CodeSettings, VoucherTemplate } from "../domain/campaign.ts";
import { requireDiscount } from "./terms.ts";

/** What the vouchers of a new campaign are made of; its kind was checked before. */
export function toTemplate(sent: NewCampaignVoucher | undefined, call: Call): VoucherTemplate {
  const { discount, gift, loyaltyCard, redemption, codeConfig, code } = sent ?? {};
  return {
    discount: discount === undefined ? null : requireDiscount(discount),
    gift:
      gift?.amount === undefined
        ? null
        : { amount: gift.amount, effect: enumName(GiftEffects, gift.effect) ?? "APPLY_TO_ORDER" },
    loyaltyCard:
      loyaltyCard?.points === undefined
        ? null
        : { points: loyaltyCard.points, expirationRules: loyaltyCard.expirationRules ?? null },
    quantity: redemption?.quantity ?? null,
    codeConfig: requireCodeConfig(standingConfig(call), codeConfig, call),
    code: code ?? null,
  };
}

/** The project's own config, which a campaign takes over for good. */
const standingConfig = ({ project }: Call): CodeConfig =>
  project.codeConfig === undefined ? {} : (JSON.parse(project.codeConfig) as CodeConfig);

/** How the code of a voucher is drawn: what was sent for it over what its campaign has. */
export function mergedCodeConfig(
  campaign: Campaign,
  sent: CodeConfigMessage | undefined,
  call: Call,
) {
  const standing = campaign.voucher?.codeConfig ?? {};
  const { length, ...settings } = requireCodeConfig(standing, sent, call);
  return { length: BigInt(length), ...settings };
}

/** What is sent over what stands, complete. */
function requireCodeConfig(
  standing: CodeConfig,
  sent: CodeConfigMessage | undefined,
  { project }: Call,
): CodeSettings {
  const config = mergeCodeConfig(standing, {
    ...(sent?.length !== undefined && { length: Number(sent.length) }),
    ...(sent?.charset !== undefined && { charset: sent.charset }),
    ...(sent?.pattern !== undefined && { pattern: sent.pattern }),
    ...(sent?.prefix !== undefined && { prefix: sent.prefix }),
    ...(sent?.postfix !== undefined && { postfix: sent.postfix }),
  });
  const parsed = parseCodeConfig(config, project.caseSensitiveCodes);
  if (parsed.kind === "violation") {
    throw new ApiError("invalid_code_config", { details: parsed.text });
  }
  return normalize(config, parsed.mask);
}
