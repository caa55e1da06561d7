import { type CodeConfig, mergeCodeConfig, normalize, parseCodeConfig } from "@scrip/codes";
import { ApiError } from "@scrip/errors";
import type { CodeConfig as CodeConfigMessage } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Campaign, CodeSettings } from "../domain/campaign.ts";

/** The code settings of a new campaign: the requested ones over those of the project, stored complete. */
export const campaignCodeConfig = (
  requested: CodeConfigMessage | undefined,
  call: Call,
): CodeSettings => resolveCodeConfig(projectCodeConfig(call), requested, call);

/** The code settings of one voucher: the requested ones over those of its campaign. */
export function voucherCodeConfig(
  campaign: Campaign,
  requested: CodeConfigMessage | undefined,
  call: Call,
) {
  const defaults = campaign.voucher?.codeConfig ?? {};
  const { length, ...settings } = resolveCodeConfig(defaults, requested, call);
  return { length: BigInt(length), ...settings };
}

const projectCodeConfig = ({ project }: Call): CodeConfig =>
  project.codeConfig === undefined ? {} : (JSON.parse(project.codeConfig) as CodeConfig);

function resolveCodeConfig(
  defaults: CodeConfig,
  requested: CodeConfigMessage | undefined,
  { project }: Call,
): CodeSettings {
  const config = mergeCodeConfig(defaults, {
    ...(requested?.length !== undefined && { length: Number(requested.length) }),
    ...(requested?.charset !== undefined && { charset: requested.charset }),
    ...(requested?.pattern !== undefined && { pattern: requested.pattern }),
    ...(requested?.prefix !== undefined && { prefix: requested.prefix }),
    ...(requested?.postfix !== undefined && { postfix: requested.postfix }),
  });
  const parsed = parseCodeConfig(config, project.caseSensitiveCodes);
  if (parsed.kind === "violation") {
    throw new ApiError("invalid_code_config", { details: parsed.text });
  }
  return normalize(config, parsed.mask);
}
